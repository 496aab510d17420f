// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.transfer.DownloadQueue;
import io.millrace.operators.transfer.DownloadingOperator;
import org.apache.flink.annotation.Internal;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * The base of operators that encode batches for files: cuts each batch into the rows of each
 * partition first.
 *
 * @param <OUT> the output of the operator
 */
@Internal
public abstract class FileEncodingOperator<OUT> extends DownloadingOperator<OUT> {
  private static final long serialVersionUID = 1L;

  private final EncodedOutput<OUT> form;
  private transient PartitionSplitter splitter;

  protected FileEncodingOperator(
      StreamOperatorParameters<OUT> parameters, EncodedOutput<OUT> form) {
    super(parameters);
    this.form = form;
  }

  @Override
  public void open() throws Exception {
    super.open();
    splitter = new PartitionSplitter(form.keys(), deviceContext());
  }

  @Override
  protected final void download(
      ColumnBatch batch, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    splitter.split(batch, (folder, rows) -> encode(folder, rows, element, downloads));
  }

  /**
   * Encodes rows, or keeps them to be encoded with others, and sends them.
   *
   * @param folder of the rows
   * @param rows with the columns of files, on the operator's device; borrowed until this returns
   * @param element that brought the rows
   */
  protected abstract void encode(
      String folder, ColumnBatch rows, StreamRecord<ColumnBatch> element, DownloadQueue downloads);

  /** Sends encoded rows. */
  protected final void send(String folder, byte[] bytes, StreamRecord<?> element) {
    output.collect(element.copy(null).replace(form.element(folder, bytes)));
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(splitter, super::close);
  }
}
