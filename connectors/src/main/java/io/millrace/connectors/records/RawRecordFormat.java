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
  private final boolean areLines;

  /**
   * Records of which each byte belongs to the value.
   *
   * @throws IllegalArgumentException if {@link RawReader#unsupported} says why the column cannot be
   *     read
   */
  public RawRecordFormat(Schema schema) {
    this(schema, false);
  }

  private RawRecordFormat(Schema schema, boolean areLines) {
    RawReader.unsupported(schema)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException(why);
            });
    this.schema = schema;
    this.areLines = areLines;
  }

  /**
   * Lines of text, whose line ends do not belong to the value.
   *
   * @throws IllegalArgumentException as the constructor
   */
  public static RawRecordFormat ofLines(Schema schema) {
    return new RawRecordFormat(schema, true);
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public RecordReader createReader(DeviceContext context, Optional<RecordFilter> filter) {
    return new RawReader(schema, areLines, context.stream(), context.resource());
  }

  @Override
  public String reason(byte[] record, String reason) {
    return reason;
  }
}
