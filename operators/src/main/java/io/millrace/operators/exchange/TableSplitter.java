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
     * @param encodedBytes no fewer than it takes on the network, uncompressed
     */
    void accept(ColumnBatch part, long encodedBytes);
  }

  /** Makes the splitter of a subtask; serialized with the job. */
  @FunctionalInterface
  interface Factory extends Serializable {
    TableSplitter create(DeviceContext context, ExchangeTarget target);
  }

  /**
   * Hands the parts of {@code batch}, which stays the caller's, to {@code output} once {@code
   * downloads} has brought them to the host. Where memory runs out, these are the parts of one
   * piece of the batch after the other.
   */
  void split(ColumnBatch batch, DownloadQueue downloads, Output output);
}
