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

/**
 * Records of CSV, as {@link CsvReader} reads them, written as {@link CsvOptions} or {@link
 * CsvReaderOptions} say.
 */
@PublicEvolving
public final class CsvRecordFormat implements RecordFormat {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final CsvReaderOptions reader;
  // Both are null if there are no options for headers, and no parser of single lines.
  private final CsvOptions options;
  private final CsvLineParser parser;

  /**
   * Records of files, which may have headers.
   *
   * @throws IllegalArgumentException if {@link CsvReader#unsupported} says why the columns cannot
   *     be read
   */
  public CsvRecordFormat(Schema schema, CsvOptions options) {
    this(schema, readerOptions(options), options, new CsvLineParser(schema, options));
  }

  private CsvRecordFormat(
      Schema schema, CsvReaderOptions reader, CsvOptions options, CsvLineParser parser) {
    CsvReader.checkSupported(schema);
    this.schema = schema;
    this.reader = reader;
    this.options = options;
    this.parser = parser;
  }

  /**
   * Records without headers.
   *
   * @throws IllegalArgumentException as the constructor does
   */
  public static CsvRecordFormat of(Schema schema, CsvReaderOptions options) {
    return new CsvRecordFormat(
        schema, Objects.requireNonNull(options, "options are null"), null, null);
  }

  private static CsvReaderOptions readerOptions(CsvOptions options) {
    return CsvReaderOptions.DEFAULT.withQuotes(
        new FieldQuotes(options.delimiter(), '"', FieldQuotes.NO_CHARACTER));
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public RecordFormat withHeader(byte[] header) throws MalformedLineException {
    if (options == null) {
      return this;
    }
    CsvLineParser ofHeader = new CsvLineParser(schema, options);
    ofHeader.useHeader(header);
    List<String> fields = distinct(CsvLineParser.names(header, options));
    return new CsvRecordFormat(schema, reader.withHeader(fields), options, ofHeader);
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
    return new CsvReader(schema, reader, filter, context.stream(), context.resource());
  }

  // The parser of single lines knows the values.
  @Override
  public String reason(byte[] record, String reason) {
    if (parser == null) {
      return reason;
    }
    try {
      parser.parse(record);
      return reason;
    } catch (MalformedLineException e) {
      return e.getMessage();
    }
  }
}
