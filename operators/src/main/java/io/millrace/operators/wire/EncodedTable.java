// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import io.millrace.column.Table;
import io.millrace.operators.batch.LazyTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.core.memory.DataOutputView;

/** A serialized batch in heap memory: its header and body. Used by one thread. */
final class EncodedTable implements LazyTable {
  private final BatchHeader header;
  private final byte[] body;
  private final ColumnBatchSerializer serializer;

  EncodedTable(BatchHeader header, byte[] body, ColumnBatchSerializer serializer) {
    this.header = header;
    this.body = body;
    this.serializer = serializer;
  }

  /**
   * The table, which the caller owns.
   *
   * @throws UncheckedIOException if the body is corrupt
   */
  @Override
  public Table load() {
    try {
      return serializer.decode(header, body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void write(DataOutputView target) throws IOException {
    header.write(target);
    target.write(body);
  }

  @Override
  public String toString() {
    return body.length + " bytes of " + serializer.schema();
  }
}
