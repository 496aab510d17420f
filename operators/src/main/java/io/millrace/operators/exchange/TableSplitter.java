// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.DownloadQueue;
import java.io.Serializable;

/** Cuts batches into the parts that an exchange sends. Used by one thread. */
interface TableSplitter {

  /** Takes the parts of a batch, in order. */
  @FunctionalInterface
  interface Output {
    /**
     * Takes ownership of {@code part}.
     *
     * @param part in host memory
     * @param encodedBytes an upper bound of the part's size on the network without compression
     */
    void accept(ColumnBatch part, long encodedBytes);
  }

  /** Makes the splitter of a subtask; serialized with the job. */
  @FunctionalInterface
  interface Factory extends Serializable {
    TableSplitter create(DeviceContext context, ExchangeTarget target);
  }

  /**
   * Passes the parts of {@code batch} to {@code output} when {@code downloads} has copied them to
   * the host. The caller keeps its reference to {@code batch}. If memory runs out, the batch is cut
   * into pieces first, and all parts of a piece are passed before those of the next piece.
   */
  void split(ColumnBatch batch, DownloadQueue downloads, Output output);
}
