// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.Schema;
import io.millrace.connectors.formats.CsvLineParser;
import io.millrace.connectors.formats.CsvOptions;
import io.millrace.connectors.formats.MalformedLineException;
import io.millrace.format.FieldQuotes;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.format.csv.CsvReader;
import io.millrace.format.csv.CsvReaderOptions;
import io.millrace.operators.context.DeviceContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;

/** Records of CSV as {@link CsvOptions} say, as {@link CsvReader} reads them. */
@PublicEvolving
public final class CsvRecordFormat implements RecordFormat {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final CsvOptions options;
  // Of a header; empty if the fields are the columns in order.
  private final List<String> fields;
  private final CsvLineParser parser;

  /**
   * @throws IllegalArgumentException if {@link CsvReader#unsupported} says why the columns cannot
   *     be read
   */
  public CsvRecordFormat(Schema schema, CsvOptions options) {
    this(schema, options, List.of(), new CsvLineParser(schema, options));
    CsvReader.checkSupported(schema);
  }

  private CsvRecordFormat(
      Schema schema, CsvOptions options, List<String> fields, CsvLineParser parser) {
    this.schema = schema;
    this.options = Objects.requireNonNull(options, "options are null");
    this.fields = fields;
    this.parser = parser;
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public RecordFormat withHeader(byte[] header) throws MalformedLineException {
    CsvLineParser ofHeader = new CsvLineParser(schema, options);
    ofHeader.useHeader(header);
    return new CsvRecordFormat(
        schema, options, distinct(CsvLineParser.names(header, options)), ofHeader);
  }

  // The names of skipped fields may be empty, or twice in the header.
  private List<String> distinct(List<String> names) {
    List<String> distinct = new ArrayList<>();
    for (String name : names) {
      boolean isRead = name != null && schema.names().contains(name);
      distinct.add(isRead ? name : "skipped field " + distinct.size() + '\0');
    }
    return distinct;
  }

  @Override
  public Optional<String> unsupported(RecordFilter filter) {
    return filter.unsupported(schema);
  }

  @Override
  public RecordReader createReader(DeviceContext context, Optional<RecordFilter> filter) {
    FieldQuotes quotes = new FieldQuotes(options.delimiter(), '"', FieldQuotes.NO_CHARACTER);
    CsvReaderOptions ofRecords = CsvReaderOptions.DEFAULT.withQuotes(quotes).withHeader(fields);
    return new CsvReader(schema, ofRecords, filter, context.stream(), context.resource());
  }

  // The parser of single lines knows the values.
  @Override
  public String reason(byte[] record, String reason) {
    try {
      parser.parse(record);
      return reason;
    } catch (MalformedLineException e) {
      return e.getMessage();
    }
  }
}
