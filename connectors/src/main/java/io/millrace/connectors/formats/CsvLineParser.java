package io.millrace.connectors.formats;

import io.millrace.column.Schema;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/**
 * Parses CSV as {@link CsvOptions} say: the fields of a line are the columns in order. Values are
 * written as in {@link JsonLineParser} but without JSON's quotes; ROW and ARRAY are JSON. Blank
 * lines are skipped, unless there is but one column: then they are a null.
 */
public final class CsvLineParser implements LineParser {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final CsvOptions options;
  private transient ValueField root;

  public CsvLineParser(Schema schema, CsvOptions options) {
    this.schema = Objects.requireNonNull(schema, "schema is null");
    this.options = Objects.requireNonNull(options, "options are null");
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public Optional<RowData> parse(byte[] line, boolean first) throws MalformedLineException {
    if (root == null) {
      root = ValueField.of(schema);
    }
    if (line.length == 0 && (schema.size() > 1 || (first && options.header()))) {
      return Optional.empty();
    }
    List<String> fields = CsvFields.split(line, options.delimiter());
    if (first && options.header()) {
      checkHeader(fields);
      return Optional.empty();
    }
    if (fields.size() != schema.size()) {
      throw new MalformedLineException(
          fields.size() + " fields, but there are " + schema.size() + " columns");
    }
    GenericRowData row = new GenericRowData(fields.size());
    for (int i = 0; i < fields.size(); i++) {
      row.setField(i, value(root.child(i), fields.get(i)));
    }
    return Optional.of(row);
  }

  private void checkHeader(List<String> fields) throws MalformedLineException {
    if (!fields.equals(schema.names())) {
      throw new MalformedLineException(
          "the header names the columns " + fields + ", not " + schema.names());
    }
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
