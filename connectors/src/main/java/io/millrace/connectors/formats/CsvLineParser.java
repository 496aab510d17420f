// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/**
 * Parses CSV as {@link CsvOptions} say: the fields of a line are the columns in order, or those
 * that the file's header names. Values are written as in {@link JsonLineParser} but without JSON's
 * quotes; ROW and ARRAY are JSON. Blank lines are skipped, unless there is but one column: then
 * they are a null.
 */
@PublicEvolving
public final class CsvLineParser implements LineParser {
  private static final long serialVersionUID = 1L;
  private static final int SKIPPED = -1;

  private final Schema schema;
  private final CsvOptions options;
  private transient ValueField root;
  // The column of each field of a line.
  private transient int[] columns;

  public CsvLineParser(Schema schema, CsvOptions options) {
    this.schema = Objects.requireNonNull(schema, "schema is null");
    this.options = Objects.requireNonNull(options, "options are null");
  }

  @Override
  public Schema schema() {
    return schema;
  }

  /** Fields of the lines that follow are the columns of these names; others are skipped. */
  @Override
  public void useHeader(byte[] header) throws MalformedLineException {
    List<String> names = names(header, options);
    int[] positions = new int[names.size()];
    Arrays.fill(positions, SKIPPED);
    for (int column = 0; column < schema.size(); column++) {
      String name = schema.field(column).name();
      int position = names.indexOf(name);
      if (position < 0) {
        throw new MalformedLineException(
            "the header has no column '" + name + "'; its columns are " + names);
      }
      if (position != names.lastIndexOf(name)) {
        throw new MalformedLineException("the header has column '" + name + "' twice");
      }
      positions[position] = column;
    }
    columns = positions;
  }

  /**
   * The names in a header; null for a field that is empty.
   *
   * @throws MalformedLineException if the header is not CSV
   */
  public static List<String> names(byte[] header, CsvOptions options)
      throws MalformedLineException {
    return CsvFields.split(header, options.delimiter());
  }

  /**
   * As in the interface.
   *
   * @throws IllegalStateException if files have headers, but none was given
   */
  @Override
  public Optional<RowData> parse(byte[] line) throws MalformedLineException {
    if (root == null) {
      open();
    }
    if (line.length == 0 && columns.length > 1) {
      return Optional.empty();
    }
    List<String> fields = CsvFields.split(line, options.delimiter());
    if (fields.size() != columns.length) {
      throw new MalformedLineException(
          fields.size() + " fields, but there are " + columns.length + " columns");
    }
    GenericRowData row = new GenericRowData(schema.size());
    for (int i = 0; i < columns.length; i++) {
      if (columns[i] != SKIPPED) {
        row.setField(columns[i], value(root.child(columns[i]), fields.get(i)));
      }
    }
    return Optional.of(row);
  }

  private void open() {
    if (columns == null && options.header()) {
      throw new IllegalStateException("lines of files with headers, but without their headers");
    }
    if (columns == null) {
      columns = IntStream.range(0, schema.size()).toArray();
    }
    root = ValueField.of(schema);
  }

  private static Object value(ValueField field, String text) throws MalformedLineException {
    if (text == null) {
      if (!field.nullable()) {
        throw MalformedLineException.unexpectedNull(field, "null");
      }
      return null;
    }
    return switch (field.type().id()) {
      case LIST, STRUCT -> JsonValueReader.read(field, text);
      default -> ScalarParser.parse(field, text);
    };
  }
}
