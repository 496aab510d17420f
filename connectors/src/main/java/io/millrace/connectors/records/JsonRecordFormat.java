// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.Schema;
import io.millrace.connectors.formats.JsonLineParser;
import io.millrace.connectors.formats.MalformedLineException;
import io.millrace.format.RecordReader;
import io.millrace.format.json.JsonReader;
import io.millrace.operators.context.DeviceContext;
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
  public RecordReader createReader(DeviceContext context) {
    return new JsonReader(schema, context.stream(), context.resource());
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
