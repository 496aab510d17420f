// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.Schema;
import io.millrace.format.json.JsonChangeReader;
import io.millrace.format.json.JsonReader;
import io.millrace.format.record.ChangeEnvelope;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Changes in the JSON of Canal, as {@link JsonChangeReader} reads them. {@link #schema} has a
 * row-kind column behind the columns.
 */
@PublicEvolving
public final class CanalJsonRecordFormat extends ChangeRecordFormat {
  private static final long serialVersionUID = 1L;

  /**
   * @throws IllegalArgumentException if {@link JsonReader#unsupported} says why the columns cannot
   *     be read
   */
  public CanalJsonRecordFormat(Schema columns) {
    super(columns, ChangeEnvelope.CANAL, "");
  }
}
