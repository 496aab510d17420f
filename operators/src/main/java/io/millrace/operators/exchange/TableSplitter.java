package io.millrace.operators.exchange;

import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.DeviceContext;
import java.io.Serializable;

/** Cuts tables into the batches that an exchange sends. Used by one thread. */
interface TableSplitter {

  /** Takes the parts of a table, in order. */
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
   * Hands the parts of {@code table}, which stays the caller's, to {@code output}. Where memory
   * runs out, these are the parts of one piece of the table after the other.
   */
  void split(Table table, Output output);
}
