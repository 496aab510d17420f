// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.format.MalformedRecord;
import io.millrace.format.json.JsonKernels.Records;
import io.millrace.format.json.JsonKernels.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The records of a batch that are not rows, or not yet. Reads their errors from the device. */
final class JsonFaults {
  // Of a value of any field, and of what is beside it.
  private static final long VALUE_BYTES = 2 * Long.BYTES;

  private final Records records;
  private final DeviceStream stream;
  private final long[] words;
  private final int[] positions;

  /** Waits for the stream. */
  JsonFaults(Records records) {
    this.records = records;
    this.stream = records.stream();
    this.words = new long[records.count()];
    this.positions = new int[records.count() + 1];
    long wordBytes = (long) words.length * Long.BYTES;
    long positionBytes = (long) positions.length * Integer.BYTES;
    try (StagingBuffer staged = stream.device().stagingPool().acquire(wordBytes + positionBytes)) {
      stream.copy(staged.address(), records.errors(), wordBytes);
      stream.copy(staged.address() + wordBytes, records.positions(), positionBytes);
      stream.synchronize();
      HostMemory.copyToArray(words, staged.address(), words.length);
      for (int i = 0; i < positions.length; i++) {
        positions[i] = HostMemory.getInt(staged.address() + wordBytes + (long) i * Integer.BYTES);
      }
    }
  }

  private JsonError error(int record) {
    return JsonError.ofWord(words[record]);
  }

  private int length(int record) {
    return positions[record + 1] - positions[record];
  }

  /**
   * Rounds the floating-point numbers of undecided records, which become valid, or malformed if a
   * number turns out to be too large. Waits for the stream.
   */
  void decide() {
    int fields = records.fields().size();
    try (StagingBuffer values = stream.device().stagingPool().acquire(fields * VALUE_BYTES)) {
      List<Target> targets =
          IntStream.range(0, fields)
              .mapToLong(field -> values.address() + field * VALUE_BYTES)
              .mapToObj(address -> new Target(address, address + Long.BYTES, 0))
              .toList();
      try (JsonRecordReader reader = JsonRecordReader.exact(records.fields(), targets)) {
        for (int i = 0; i < words.length; i++) {
          if (error(i) == JsonError.UNDECIDED) {
            decide(i, reader, targets);
          }
        }
      }
    }
  }

  private void decide(int record, JsonRecordReader reader, List<Target> targets) {
    int length = length(record);
    try (StagingBuffer bytes = stream.device().stagingPool().acquire(length)) {
      stream.copy(bytes.address(), records.bytes() + positions[record], length);
      stream.synchronize();
      words[record] = reader.read(bytes.address(), 0, length, 0);
    }
    for (int i = 0; i < targets.size(); i++) {
      JsonField field = records.fields().get(i);
      if (field.kind() == JsonType.FLOAT && reader.isPresent(i)) {
        long target = records.targets().get(i).values() + (long) record * field.width();
        stream.copy(target, targets.get(i).values(), field.width());
      }
    }
    stream.synchronize();
  }

  /** The records that are rows. */
  int[] valid() {
    return IntStream.range(0, words.length).filter(i -> error(i) == JsonError.VALID).toArray();
  }

  /** The records that are neither rows nor blank. */
  List<MalformedRecord> malformed() {
    List<MalformedRecord> malformed = new ArrayList<>();
    for (int i = 0; i < words.length; i++) {
      if (error(i) != JsonError.VALID && error(i) != JsonError.BLANK) {
        malformed.add(
            new MalformedRecord(
                i, positions[i], length(i), JsonError.positionOfWord(words[i]), reason(i)));
      }
    }
    return malformed;
  }

  private String reason(int record) {
    JsonError error = error(record);
    JsonField field = records.fields().get(JsonError.fieldOfWord(words[record]));
    String column = "column '" + field.path() + "'";
    return switch (error) {
      case VALID, BLANK, UNDECIDED -> "";
      case MALFORMED -> "invalid JSON";
      case NO_UTF8 -> "invalid UTF-8";
      case NO_OBJECT -> "expected a JSON object, got another JSON value";
      case MORE -> "expected the end of the record behind the JSON value";
      case TOO_DEEP -> "JSON values are nested more than 1000 levels deep";
      case WRONG_TYPE ->
          column + ": expected " + field.type() + ", got a JSON value of another type";
      case INVALID_VALUE -> column + ": the value is not a valid " + field.type();
      case UNEXPECTED_NULL -> column + " is NOT NULL, got null";
      case MISSING -> column + " is NOT NULL, but is missing";
      case DUPLICATE -> column + " is there more than once";
    };
  }
}
