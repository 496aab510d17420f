// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.Schema;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.operators.context.DeviceContext;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Records that are Arrow IPC streams, with their schema and any number of rows. Bodies that are
 * compressed are malformed. The metadata is read on the host; then the columns are copied to the
 * operator's device as they are.
 */
@PublicEvolving
public final class ArrowRecordFormat implements RecordFormat {
  private static final long serialVersionUID = 1L;

  private final Schema schema;

  /**
   * @param schema of each record: the same names, types and order of columns. A column may be NOT
   *     NULL here and not in a record that has no nulls in it
   */
  public ArrowRecordFormat(Schema schema) {
    this.schema = Objects.requireNonNull(schema, "schema is null");
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public boolean isReadOnHost() {
    return true;
  }

  @Override
  public RecordReader createReader(DeviceContext context, Optional<RecordFilter> filter) {
    return new ArrowRecordReader(schema, context);
  }

  @Override
  public String reason(byte[] record, String reason) {
    return reason;
  }
}
