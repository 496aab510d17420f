// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import io.millrace.column.Table;
import io.millrace.connectors.formats.TableEncoder;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.DownloadQueue;
import io.millrace.operators.transfer.DownloadingOperator;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Copies each batch to the host and turns it into the bytes of a file there: what stands before a
 * {@link EncodedFileSink}, which knows nothing of batches and their release.
 */
@PublicEvolving
public final class EncodingOperator extends DownloadingOperator<byte[]> {
  private static final long serialVersionUID = 1L;

  private final TableEncoder encoder;

  EncodingOperator(StreamOperatorParameters<byte[]> parameters, TableEncoder encoder) {
    super(parameters);
    this.encoder = encoder;
  }

  /** Appends the operator to {@code batches}, with their parallelism. */
  public static SingleOutputStreamOperator<byte[]> encode(
      DataStream<ColumnBatch> batches, TableEncoder encoder) {
    OperatorFactory<ColumnBatch, byte[]> factory =
        new OperatorFactory<>(
            EncodingOperator.class, parameters -> new EncodingOperator(parameters, encoder));
    return factory.appendWithParallelism(
        batches, "encode batches", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
  }

  @Override
  protected void download(
      ColumnBatch batch, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    downloads.add(batch, table -> send(table, element));
  }

  private void send(Table table, StreamRecord<ColumnBatch> element) {
    if (table.rowCount() > 0) {
      byte[] encoded = deviceContext().retry().withHostRetry(() -> encode(table));
      output.collect(element.copy(null).replace(encoded));
    }
  }

  private byte[] encode(Table table) {
    try (AccessScope scope = AccessScope.on(deviceContext().hostStream())) {
      return encoder.encode(table, scope);
    }
  }
}
