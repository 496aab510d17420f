// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.files.message.MessageDecoder;
import io.millrace.device.Device;
import io.millrace.operators.context.DeviceContext;
import java.io.IOException;

/** Decodes Parquet files in memory that have one row group, as {@link RowGroupFile} makes them. */
final class ParquetMessageDecoder implements MessageDecoder {
  private static final long serialVersionUID = 1L;

  private final Schema schema;

  /**
   * @param schema of the columns of the files, in their order
   */
  ParquetMessageDecoder(Schema schema) {
    this.schema = schema;
  }

  @Override
  public boolean isOnDevice(Device device) {
    return !device.isHostAccessible();
  }

  @Override
  public Table decode(byte[] file, DeviceContext context) throws IOException {
    return new RowGroupDecoder(schema, file)
        .decode(
            context.hostStream(), context.pinnedResource(), context.stream(), context.resource());
  }
}
