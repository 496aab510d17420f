// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.Schema;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.format.json.JsonChangeReader;
import io.millrace.format.json.JsonReader;
import io.millrace.format.record.ChangeEnvelope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.RowKindColumn;
import java.util.Optional;

/** Records of changes in JSON: the rows are a changelog, with a row-kind column. */
abstract class ChangeRecordFormat implements RecordFormat {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final ChangeEnvelope envelope;
  private final String payload;

  /**
   * @param columns of the rows
   * @param payload the member of a record that has the envelope; empty if the record is the
   *     envelope
   * @throws IllegalArgumentException if {@link JsonReader#unsupported} says why the columns cannot
   *     be read
   */
  ChangeRecordFormat(Schema columns, ChangeEnvelope envelope, String payload) {
    JsonReader.checkSupported(columns);
    this.schema = RowKindColumn.addTo(columns);
    this.envelope = envelope;
    this.payload = payload;
  }

  @Override
  public final Schema schema() {
    return schema;
  }

  @Override
  public final RecordReader createReader(DeviceContext context, Optional<RecordFilter> filter) {
    return new JsonChangeReader(schema, envelope, payload, context.stream(), context.resource());
  }

  @Override
  public final String reason(byte[] record, String reason) {
    return reason;
  }
}
