// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.device.DeviceStream;
import io.millrace.device.StagingBuffer;
import io.millrace.format.MalformedRecord;
import io.millrace.format.record.RecordKernels.Records;
import io.millrace.format.record.RecordKernels.Target;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The texts of a pass that are not rows. Reads their errors from the device, and those of elements
 * in them; rounds floating-point numbers that are undecided.
 */
final class RecordFaults {
  // A value of any field, and what is beside it.
  private static final long VALUE_BYTES = 3 * Long.BYTES;
  private static final int GROUP_RECORDS = 1024;

  private final Records records;
  private final DeviceStream stream;
  private final long[] words;
  private final int[] positions;
  private final int[] ends;
  // Of further texts; null if no record has one.
  private final int[] others;
  private final int[] otherEnds;
  // Undecided before.
  private final BitSet decided = new BitSet();
  // The first one of a record, which has no error of its own.
  private final Map<Integer, MalformedRecord> faultsOfElements = new HashMap<>();

  /**
   * Waits for the stream.
   *
   * @param pass over one text or more
   * @throws UnknownSchemasException if records name schemas that the format does not know
   */
  RecordFaults(RecordPass pass) {
    this.records = pass.records();
    this.stream = records.stream();
    this.words = HostCopy.longs(records.errors(), records.count(), stream);
    this.positions = integers(records.positions());
    this.ends = integers(records.ends());
    this.others = records.others() == 0 ? null : integers(records.others());
    this.otherEnds = records.others() == 0 ? null : integers(records.otherEnds());
    checkSchemas();
    if (pass.hasUndecided()) {
      decide();
    }
    for (int i = 0; i < records.fields().size(); i++) {
      RecordPass elements = pass.elements(i);
      if (elements != null && !elements.isComplete()) {
        addFaults(new RecordFaults(elements), records.targets().get(i));
      }
    }
  }

  private int[] integers(long address) {
    return HostCopy.integers(address, words.length, stream);
  }

  // The first fault of each record alone: there may be many in one.
  private void addFaults(RecordFaults elements, Target lists) {
    int[] offsets = HostCopy.integers(lists.second(), words.length + 1, stream);
    int record = 0;
    for (int i = 0; i < elements.words.length; i++) {
      while (offsets[record + 1] <= i) {
        record++;
      }
      boolean isFirst = error(record) == RecordError.VALID && !faultsOfElements.containsKey(record);
      if (isFirst && elements.isMalformed(i)) {
        faultsOfElements.put(record, within(record, elements.malformed(i)));
      }
    }
  }

  /** The fault of a record that has one in a part of it. */
  MalformedRecord within(int record, MalformedRecord part) {
    return malformed(record, part.start() + part.position() - positions[record], part.reason());
  }

  private RecordError error(int record) {
    return RecordError.ofWord(words[record]);
  }

  private int otherLength(int record) {
    return others == null || others[record] < 0 ? 0 : otherEnds[record] - others[record];
  }

  // Undecided records become valid, or malformed if a number turns out to be too large.
  private void decide() {
    int[] undecided = records(RecordError.UNDECIDED);
    IntStream.of(undecided).forEach(decided::set);
    for (int from = 0; from < undecided.length; from += GROUP_RECORDS) {
      int to = Math.min(from + GROUP_RECORDS, undecided.length);
      decide(Arrays.copyOfRange(undecided, from, to));
    }
  }

  private void decide(int[] group) {
    long bytes = IntStream.of(group).mapToLong(i -> length(i) + otherLength(i)).sum();
    int fields = records.fields().size();
    long fieldBytes = group.length * VALUE_BYTES;
    try (StagingBuffer text = stream.device().stagingPool().acquire(bytes);
        StagingBuffer values = stream.device().stagingPool().acquire(fields * fieldBytes)) {
      long end = text.address();
      for (int record : group) {
        stream.copy(end, records.bytes() + positions[record], length(record));
        end += length(record);
        if (otherLength(record) > 0) {
          stream.copy(end, records.bytes() + others[record], otherLength(record));
          end += otherLength(record);
        }
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
          words[group[i]] = decide(group[i], reader, start, i);
          copyFloats(group[i], reader, targets, i);
          start += length(group[i]) + otherLength(group[i]);
        }
      }
      stream.synchronize();
    }
  }

  private long decide(int record, RowReader reader, long start, int row) {
    int length = length(record);
    int both = length + otherLength(record);
    if (both == length) {
      return reader.read(start, 0, length, row);
    }
    long word = reader.read(start, 0, length, length, both, row);
    // The further text was copied behind the first one.
    int position = RecordError.positionOfWord(word);
    int moved = position > length ? others[record] - positions[record] - length : 0;
    return RecordError.ofWord(word).word(RecordError.fieldOfWord(word), position + moved);
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

  /** Records whose floating-point numbers were rounded by the host. */
  BitSet decided() {
    return decided;
  }

  /** The records that are rows. */
  int[] valid() {
    return IntStream.of(records(RecordError.VALID))
        .filter(record -> !faultsOfElements.containsKey(record))
        .toArray();
  }

  /** A record in which something is wrong {@code position} bytes behind its start. */
  MalformedRecord malformed(int record, int position, String reason) {
    return new MalformedRecord(record, positions[record], length(record), position, reason);
  }

  private int length(int record) {
    return ends[record] - positions[record];
  }

  /** Whether a record is neither a row nor blank. */
  boolean isMalformed(int record) {
    RecordError error = error(record);
    return faultsOfElements.containsKey(record)
        || (error != RecordError.VALID && error != RecordError.BLANK);
  }

  /** What is wrong with a record that is malformed. */
  MalformedRecord malformed(int record) {
    MalformedRecord ofElement = faultsOfElements.get(record);
    return ofElement == null ? malformed(record, position(record), reason(record)) : ofElement;
  }

  private int position(int record) {
    boolean isOfRecord = error(record) == RecordError.UNKNOWN_SCHEMA;
    return isOfRecord ? 0 : RecordError.positionOfWord(words[record]);
  }

  /**
   * Checks that the format knows the schema of each record.
   *
   * @throws UnknownSchemasException with the ids of the schemas that it does not know
   */
  private void checkSchemas() {
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
    return IntStream.range(0, words.length)
        .filter(this::isMalformed)
        .mapToObj(this::malformed)
        .toList();
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
