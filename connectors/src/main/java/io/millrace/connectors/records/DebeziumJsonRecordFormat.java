// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.Schema;
import io.millrace.format.json.JsonChangeReader;
import io.millrace.format.json.JsonReader;
import io.millrace.format.record.ChangeEnvelope;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Changes in the JSON of Debezium, as {@link JsonChangeReader} reads them. {@link #schema} has a
 * row-kind column behind the columns.
 */
@PublicEvolving
public final class DebeziumJsonRecordFormat extends ChangeRecordFormat {
  private static final long serialVersionUID = 1L;

  /**
   * Records without their schema.
   *
   * @throws IllegalArgumentException if {@link JsonReader#unsupported} says why the columns cannot
   *     be read
   */
  public DebeziumJsonRecordFormat(Schema columns) {
    this(columns, false);
  }

  /**
   * @param hasSchema whether a record has its schema, and the change as its {@code payload}
   * @throws IllegalArgumentException if {@link JsonReader#unsupported} says why the columns cannot
   *     be read
   */
  public DebeziumJsonRecordFormat(Schema columns, boolean hasSchema) {
    super(columns, ChangeEnvelope.DEBEZIUM, hasSchema ? JsonChangeReader.PAYLOAD : "");
  }
}
