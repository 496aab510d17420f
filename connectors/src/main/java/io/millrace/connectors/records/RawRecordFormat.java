// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.Schema;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.format.raw.RawReader;
import io.millrace.operators.context.DeviceContext;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;

/** Records that are the value of a row as they are, as {@link RawReader} reads them. */
@PublicEvolving
public final class RawRecordFormat implements RecordFormat {
  private static final long serialVersionUID = 1L;

  private final Schema schema;

  /**
   * @throws IllegalArgumentException if {@link RawReader#unsupported} says why the column cannot be
   *     read
   */
  public RawRecordFormat(Schema schema) {
    RawReader.unsupported(schema)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException(why);
            });
    this.schema = schema;
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public RecordReader createReader(DeviceContext context, Optional<RecordFilter> filter) {
    return new RawReader(schema, context.stream(), context.resource());
  }

  @Override
  public String reason(byte[] record, String reason) {
    return reason;
  }
}
