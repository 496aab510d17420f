package io.millrace.operators.batch;

import io.millrace.column.Table;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * A stream element: a counted handle on one {@link Table}. It is made with a count of one and owns
 * the table, which the last {@link #release} closes.
 *
 * <p>Batches are handed along an operator chain by reference, in both object-reuse modes. Who
 * releases:
 *
 * <ul>
 *   <li>The <b>callee borrows</b> the batch until {@code processElement} returns. It {@linkplain
 *       #retain retains} what it keeps longer, and releases that later.
 *   <li>The <b>emitter releases</b> its batch after {@code collect} returned or failed.
 *   <li>A batch that came over the network has no emitter: the <b>head of the chain</b> releases
 *       it.
 * </ul>
 *
 * {@link ColumnBatchOperator} keeps all three for its subclasses.
 *
 * <p>Thread-safe. The table's memory is ordered by streams; see {@link DeviceContext}.
 */
@PublicEvolving
public final class ColumnBatch {
  /** The routing of a batch that no keyed exchange has seen. */
  public static final int NO_KEY_GROUP = -1;

  private static final AtomicLong LIVE = new AtomicLong();

  private final Table table;
  private final int keyGroup;
  private final AtomicInteger references = new AtomicInteger(1);

  /** Takes ownership of {@code table}. */
  public ColumnBatch(Table table) {
    this(table, NO_KEY_GROUP);
  }

  /**
   * Takes ownership of {@code table}.
   *
   * @param keyGroup see {@link #keyGroup}
   */
  public ColumnBatch(Table table, int keyGroup) {
    this.table = Objects.requireNonNull(table, "table is null");
    if (keyGroup < NO_KEY_GROUP) {
      throw new IllegalArgumentException("no key group " + keyGroup);
    }
    this.keyGroup = keyGroup;
    LIVE.incrementAndGet();
  }

  /**
   * The table, still owned by this batch.
   *
   * @throws IllegalStateException if the batch was released
   */
  public Table table() {
    checkLive(references.get());
    return table;
  }

  /** Exact number of rows; as {@link Table#rowCount}, may wait for the device. */
  public int rowCount() {
    return table().rowCount();
  }

  /**
   * The key group by which the keyed exchange routes this batch: the batch goes to the subtask that
   * owns it, and so do all of its rows' own key groups. {@link #NO_KEY_GROUP} outside an exchange.
   */
  public int keyGroup() {
    return keyGroup;
  }

  /**
   * Counts one more user, who must release the batch too.
   *
   * @return this batch
   * @throws IllegalStateException if the batch was released
   */
  public ColumnBatch retain() {
    checkLive(references.getAndUpdate(count -> count > 0 ? count + 1 : count));
    return this;
  }

  /**
   * Gives up one use. The last one closes the table.
   *
   * @throws IllegalStateException if the batch was released as often as it may be
   */
  public void release() {
    int before = references.getAndUpdate(count -> count > 0 ? count - 1 : count);
    checkLive(before);
    if (before == 1) {
      LIVE.decrementAndGet();
      table.close();
    }
  }

  /** Sends the batch of {@code element} to {@code output} and releases it, also if that fails. */
  public static void emit(
      StreamRecord<ColumnBatch> element, Output<StreamRecord<ColumnBatch>> output) {
    ColumnBatch batch = element.getValue();
    try {
      output.collect(element);
    } finally {
      batch.release();
    }
  }

  /** Batches of this process that were made and not yet released for the last time. */
  public static long liveBatches() {
    return LIVE.get();
  }

  private void checkLive(int count) {
    if (count == 0) {
      throw new IllegalStateException("the batch of " + table + " is released");
    }
  }

  @Override
  public String toString() {
    return "ColumnBatch{" + table + ", references=" + references + ", keyGroup=" + keyGroup + "}";
  }
}
