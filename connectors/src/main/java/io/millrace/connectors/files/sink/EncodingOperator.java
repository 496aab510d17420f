// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import io.millrace.column.Table;
import io.millrace.connectors.formats.TableEncoder;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.DownloadQueue;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Copies each batch to the host and turns it into the bytes of a file there: what stands before a
 * {@link EncodedFileSink}, which knows nothing of batches and their release.
 *
 * @param <OUT> the output of the operator
 */
@PublicEvolving
public final class EncodingOperator<OUT> extends FileEncodingOperator<OUT> {
  private static final long serialVersionUID = 1L;

  private final TableEncoder encoder;

  private EncodingOperator(
      StreamOperatorParameters<OUT> parameters, TableEncoder encoder, EncodedOutput<OUT> form) {
    super(parameters, form);
    this.encoder = encoder;
  }

  /** Appends the operator to {@code batches}, with their parallelism. */
  public static SingleOutputStreamOperator<byte[]> encode(
      DataStream<ColumnBatch> batches, TableEncoder encoder) {
    return encode(batches, encoder, EncodedOutput.BYTES);
  }

  static <T> SingleOutputStreamOperator<T> encode(
      DataStream<ColumnBatch> batches, TableEncoder encoder, EncodedOutput<T> form) {
    @SuppressWarnings("unchecked") // the class of a generic type
    Class<EncodingOperator<T>> operatorClass =
        (Class<EncodingOperator<T>>) (Class<?>) EncodingOperator.class;
    OperatorFactory<ColumnBatch, T> factory =
        new OperatorFactory<>(
            operatorClass, parameters -> new EncodingOperator<>(parameters, encoder, form));
    return factory.appendWithParallelism(batches, "encode batches", form.type());
  }

  @Override
  protected void encode(
      String folder, ColumnBatch rows, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    downloads.add(rows, table -> send(folder, table, element));
  }

  private void send(String folder, Table table, StreamRecord<ColumnBatch> element) {
    if (table.rowCount() > 0) {
      send(folder, deviceContext().retry().withHostRetry(() -> encode(table)), element);
    }
  }

  private byte[] encode(Table table) {
    try (AccessScope scope = AccessScope.on(deviceContext().hostStream())) {
      return encoder.encode(table, scope);
    }
  }
}
