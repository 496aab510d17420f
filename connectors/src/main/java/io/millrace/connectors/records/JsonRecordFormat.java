// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.Schema;
import io.millrace.connectors.formats.JsonLineParser;
import io.millrace.connectors.formats.MalformedLineException;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.format.json.JsonReader;
import io.millrace.operators.context.DeviceContext;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;

/** Records of JSON, as {@link JsonReader} reads them. */
@PublicEvolving
public final class JsonRecordFormat implements RecordFormat {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final JsonLineParser parser;

  /**
   * @throws IllegalArgumentException if {@link JsonReader#unsupported} says why the columns cannot
   *     be read
   */
  public JsonRecordFormat(Schema schema) {
    JsonReader.checkSupported(schema);
    this.schema = schema;
    this.parser = new JsonLineParser(schema);
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public Optional<String> unsupported(RecordFilter filter) {
    return filter.unsupported(schema);
  }

  @Override
  public RecordReader createReader(DeviceContext context, Optional<RecordFilter> filter) {
    return new JsonReader(schema, filter, context.stream(), context.resource());
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
