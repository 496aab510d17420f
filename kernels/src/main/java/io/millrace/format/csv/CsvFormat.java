// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import io.millrace.column.Schema;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;
import io.millrace.format.record.RecordField;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RecordFormat;
import io.millrace.format.record.RecordKernels.Target;
import io.millrace.format.record.RowBuilder;
import io.millrace.format.record.RowReader;
import io.millrace.format.text.TextCursor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Records of CSV. The options lie behind the fields, as {@code CsvPlan} of csv_value.cuh. */
final class CsvFormat implements RecordFormat {
  /** The structure {@code CsvPlan} of csv_value.cuh. */
  static final class Layout {
    static final KernelStructure LAYOUT = new KernelStructure("CsvPlan");
    static final KernelStructure.Int32 DELIMITER = LAYOUT.int32("delimiter");
    static final KernelStructure.Int32 QUOTE = LAYOUT.int32("quote");
    static final KernelStructure.Int32 ESCAPE = LAYOUT.int32("escape");
    static final KernelStructure.Int32 FIELDS = LAYOUT.int32("fields");
    static final KernelStructure.Int32 MAX_MISSING = LAYOUT.int32("max_missing");
    static final KernelStructure.Int32 MAX_EXTRA = LAYOUT.int32("max_extra");
    static final KernelStructure.Int32 NULL_LITERAL = LAYOUT.int32("null_literal");
    static final KernelStructure.Int32 NULL_BYTES = LAYOUT.int32("null_bytes");

    private Layout() {}
  }

  private static final int MAX_FIELDS = (1 << 24) - 1;

  private final RecordFields fields;
  private final CsvReaderOptions options;
  private final List<Integer> positions;
  private final byte[] nullLiteral;

  /**
   * @throws IllegalArgumentException if the header lacks a column
   */
  CsvFormat(Schema schema, RecordFields fields, CsvReaderOptions options) {
    this.fields = fields;
    this.options = options;
    this.positions = positions(schema, options.header());
    this.nullLiteral = options.nullLiteral().getBytes(StandardCharsets.UTF_8);
  }

  // The field of each position of a record, 0 if there is none.
  private static List<Integer> positions(Schema schema, List<String> header) {
    List<String> columns = schema.names();
    List<String> names = header.isEmpty() ? columns : header;
    for (String column : columns) {
      if (!names.contains(column)) {
        throw new IllegalArgumentException(
            "the header has no column '" + column + "'; its columns are " + names);
      }
    }
    List<Integer> positions = new ArrayList<>();
    names.forEach(name -> positions.add(columns.indexOf(name) + 1));
    return List.copyOf(positions);
  }

  CsvReaderOptions options() {
    return options;
  }

  /** The number of fields of a record. */
  int size() {
    return positions.size();
  }

  /** The field of {@link RecordFields} at a position of a record; 0 if it is skipped. */
  int fieldAt(int position) {
    return positions.get(position);
  }

  /** As the options say, and no more than an error can tell. */
  int maxExtraFields() {
    return Math.min(options.maxExtraFields(), MAX_FIELDS - positions.size());
  }

  /** The null literal as words, the first byte of a word lowest. */
  long[] nullWords() {
    long[] words = new long[(nullLiteral.length + Long.BYTES - 1) / Long.BYTES];
    for (int i = 0; i < nullLiteral.length; i++) {
      words[i / Long.BYTES] |= (nullLiteral[i] & 0xffL) << (i % Long.BYTES * Byte.SIZE);
    }
    return words;
  }

  int nullBytes() {
    return nullLiteral.length;
  }

  private int nullLiteralOffset() {
    int end = Layout.LAYOUT.bytes() + positions.size() * Integer.BYTES;
    return (end + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
  }

  @Override
  public int bytes() {
    return nullLiteralOffset() + nullWords().length * Long.BYTES;
  }

  @Override
  public void write(long address, long target) {
    HostMemory.fill(target, bytes(), (byte) 0);
    put(target, Layout.DELIMITER, options.quotes().delimiter());
    put(target, Layout.QUOTE, options.quotes().quote());
    put(target, Layout.ESCAPE, options.quotes().escape());
    put(target, Layout.FIELDS, positions.size());
    put(target, Layout.MAX_MISSING, options.maxMissingFields());
    put(target, Layout.MAX_EXTRA, maxExtraFields());
    put(target, Layout.NULL_LITERAL, nullLiteralOffset());
    put(target, Layout.NULL_BYTES, nullLiteral.length);
    for (int i = 0; i < positions.size(); i++) {
      HostMemory.putInt(
          target + Layout.LAYOUT.bytes() + (long) i * Integer.BYTES, positions.get(i));
    }
    long[] words = nullWords();
    HostMemory.copyFromArray(target + nullLiteralOffset(), words, words.length);
  }

  private static void put(long target, KernelStructure.Int32 what, int value) {
    HostMemory.putInt(target + what.offset(), value);
  }

  @Override
  public RowReader rowReader(List<Target> targets, boolean exact) {
    return new CsvRecordReader(fields, this, new RowBuilder(fields, targets, exact));
  }

  @Override
  public void resolveEscapes(RecordField field, TextCursor text, int bytes, long target) {
    for (int i = 0; i < bytes; i++) {
      int next = text.next();
      if (next == options.quotes().escape()) {
        next = escaped(text.next());
      } else if (next == options.quotes().quote()) {
        text.next();
      }
      HostMemory.putByte(target + i, (byte) next);
    }
  }

  private static int escaped(int next) {
    return switch (next) {
      case '0' -> '\0';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      default -> next;
    };
  }
}
