// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.format.MalformedRecord;
import io.millrace.format.record.RecordKernels.Records;
import io.millrace.format.record.RecordKernels.Target;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** The records of a batch that are not rows, or not yet. Reads their errors from the device. */
final class RecordFaults {
  // A value of any field, and what is beside it.
  private static final long VALUE_BYTES = 3 * Long.BYTES;
  private static final int GROUP_RECORDS = 1024;

  private final Records records;
  private final DeviceStream stream;
  private final long[] words;
  private final int[] positions;

  /** Waits for the stream. */
  RecordFaults(Records records) {
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

  private RecordError error(int record) {
    return RecordError.ofWord(words[record]);
  }

  private int length(int record) {
    return positions[record + 1] - positions[record];
  }

  /**
   * Rounds the floating-point numbers of undecided records, which become valid, or malformed if a
   * number turns out to be too large. Waits for the stream.
   */
  void decide() {
    int[] undecided = records(RecordError.UNDECIDED);
    for (int from = 0; from < undecided.length; from += GROUP_RECORDS) {
      int to = Math.min(from + GROUP_RECORDS, undecided.length);
      decide(Arrays.copyOfRange(undecided, from, to));
    }
  }

  private void decide(int[] group) {
    long bytes = IntStream.of(group).mapToLong(this::length).sum();
    int fields = records.fields().size();
    long fieldBytes = group.length * VALUE_BYTES;
    try (StagingBuffer text = stream.device().stagingPool().acquire(bytes);
        StagingBuffer values = stream.device().stagingPool().acquire(fields * fieldBytes)) {
      long end = text.address();
      for (int record : group) {
        stream.copy(end, records.bytes() + positions[record], length(record));
        end += length(record);
      }
      stream.synchronize();
      List<Target> targets =
          LongStream.range(0, fields)
              .map(field -> values.address() + field * fieldBytes)
              .mapToObj(first -> new Target(first, first + 2L * Long.BYTES * group.length, 0))
              .toList();
      try (RowReader reader = records.format().rowReader(targets, true)) {
        long start = text.address();
        for (int i = 0; i < group.length; i++) {
          words[group[i]] = reader.read(start, 0, length(group[i]), i);
          copyFloats(group[i], reader, targets, i);
          start += length(group[i]);
        }
      }
      stream.synchronize();
    }
  }

  private void copyFloats(int record, RowReader reader, List<Target> targets, int row) {
    for (int i = 0; i < targets.size(); i++) {
      RecordField field = records.fields().get(i);
      if (field.kind() == FieldType.FLOAT && reader.isPresent(i)) {
        long target = records.targets().get(i).values() + (long) record * field.width();
        stream.copy(target, targets.get(i).values() + (long) row * field.width(), field.width());
      }
    }
  }

  private int[] records(RecordError error) {
    return IntStream.range(0, words.length).filter(i -> error(i) == error).toArray();
  }

  /** The records that are rows. */
  int[] valid() {
    return records(RecordError.VALID);
  }

  /**
   * Checks that the format knows the schema of each record.
   *
   * @throws UnknownSchemasException with the ids of the schemas that it does not know
   */
  void checkSchemas() {
    int[] unknown =
        IntStream.of(records(RecordError.UNKNOWN_SCHEMA))
            .map(record -> RecordError.positionOfWord(words[record]))
            .distinct()
            .filter(id -> records.format().schemaFault(id).isEmpty())
            .toArray();
    if (unknown.length > 0) {
      throw new UnknownSchemasException(unknown);
    }
  }

  /** The records that are neither rows nor blank. */
  List<MalformedRecord> malformed() {
    List<MalformedRecord> malformed = new ArrayList<>();
    for (int i = 0; i < words.length; i++) {
      if (error(i) != RecordError.VALID && error(i) != RecordError.BLANK) {
        int position =
            error(i) == RecordError.UNKNOWN_SCHEMA ? 0 : RecordError.positionOfWord(words[i]);
        malformed.add(new MalformedRecord(i, positions[i], length(i), position, reason(i)));
      }
    }
    return malformed;
  }

  private String reason(int record) {
    RecordError error = error(record);
    int number = RecordError.fieldOfWord(words[record]);
    return switch (error) {
      case VALID, BLANK, UNDECIDED -> "";
      case NO_JSON -> "invalid JSON";
      case NO_UTF8 -> "invalid UTF-8";
      case NO_OBJECT -> "expected a JSON object, got another JSON value";
      case MORE -> "expected the end of the record behind the JSON value";
      case TOO_DEEP -> "JSON values are nested more than 1000 levels deep";
      case STRAY_QUOTE -> "a quote within a field without quotes";
      case UNCLOSED_QUOTE -> "a quote that is not closed";
      case TEXT_BEHIND_QUOTE -> "text behind a closing quote";
      case UNFINISHED_ESCAPE -> "an escape character at the end of the record";
      case TOO_FEW_FIELDS -> "too few fields: " + number;
      case TOO_MANY_FIELDS -> "more than " + number + " fields";
      case TRUNCATED -> "the record ends within a value";
      case INVALID_NUMBER -> "a variable-length number has too many bytes";
      case INVALID_LENGTH -> "a length is below zero";
      case INVALID_INDEX -> "the index of a union or an enum is out of range";
      case TRAILING_BYTES -> "expected the end of the record behind the datum";
      case NO_SCHEMA_ID -> "expected a zero and the id of a schema of 4 bytes";
      case UNKNOWN_SCHEMA -> schemaFault(RecordError.positionOfWord(words[record]));
      default -> reason(error, records.fields().get(number));
    };
  }

  private String schemaFault(int id) {
    return "schema " + id + ": " + records.format().schemaFault(id).orElseThrow();
  }

  private static String reason(RecordError error, RecordField field) {
    String column = "column '" + field.path() + "'";
    return switch (error) {
      case WRONG_TYPE ->
          column + ": expected " + field.type() + ", got a JSON value of another type";
      case INVALID_VALUE -> column + ": the value is not a valid " + field.type();
      case UNEXPECTED_NULL -> column + " is NOT NULL, got null";
      case MISSING -> column + " is NOT NULL, but is missing";
      case DUPLICATE -> column + " is there more than once";
      case OTHER_BRANCH ->
          (field.path().isEmpty() ? "expected a record" : column + ": expected " + field.type())
              + ", got another branch of a union";
      default -> throw new IllegalStateException(error.toString());
    };
  }
}
