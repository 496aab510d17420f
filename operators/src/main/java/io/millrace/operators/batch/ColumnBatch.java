// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batch;

import io.millrace.column.Table;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.ColumnBatchOperator;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
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
 *   <li>The <b>emitter releases</b> its batch after {@code collect} returned or failed: {@link
 *       #emit} does both.
 *   <li>A batch that came over the network has no emitter: the <b>head of the chain</b> releases
 *       it.
 * </ul>
 *
 * {@link ColumnBatchOperator} does what the head of a chain must do.
 *
 * <p>Thread-safe. The table's memory is ordered by streams; see {@link DeviceContext}.
 */
@PublicEvolving
public final class ColumnBatch {
  /** The {@link #target} and {@link #keyGroup} of a batch that is sent without one. */
  public static final int NONE = -1;

  private static final AtomicLong LIVE = new AtomicLong();

  private final int target;
  private final int keyGroup;
  private final OptionalLong processingTime;
  private final AtomicInteger references = new AtomicInteger(1);
  private LazyTable lazyTable;
  private Table table;
  // null before it is asked for; the same as table where that has no event times.
  private Table visible;

  /** Takes ownership of {@code table}. */
  public ColumnBatch(Table table) {
    this(table, NONE, NONE, OptionalLong.empty());
  }

  private ColumnBatch(Table table, int target, int keyGroup, OptionalLong processingTime) {
    this(target, keyGroup, processingTime);
    this.table = Objects.requireNonNull(table, "table is null");
    LIVE.incrementAndGet();
  }

  private ColumnBatch(int target, int keyGroup, OptionalLong processingTime) {
    if (target < NONE || keyGroup < NONE) {
      throw new IllegalArgumentException("target " + target + ", key group " + keyGroup);
    }
    this.target = target;
    this.keyGroup = keyGroup;
    this.processingTime = processingTime;
  }

  /** Takes ownership of {@code table}, all of whose rows belong to subtask {@code target}. */
  public static ColumnBatch forTarget(Table table, int target) {
    return new ColumnBatch(table, target, NONE, OptionalLong.empty());
  }

  /**
   * Takes ownership of {@code table}.
   *
   * @param processingTime {@link #processingTime}, in milliseconds since the epoch
   */
  public static ColumnBatch atProcessingTime(Table table, long processingTime) {
    return new ColumnBatch(table, NONE, NONE, OptionalLong.of(processingTime));
  }

  /**
   * A batch with the {@link #processingTime} of this one.
   *
   * @param other goes to the batch
   */
  public ColumnBatch withTable(Table other) {
    return new ColumnBatch(other, NONE, NONE, processingTime);
  }

  /** Takes ownership of {@code table}, all of whose rows have the key group {@code keyGroup}. */
  public static ColumnBatch ofKeyGroup(Table table, int keyGroup) {
    return new ColumnBatch(table, NONE, keyGroup, OptionalLong.empty());
  }

  /**
   * A batch that holds nothing but garbage-collected bytes until its table is asked for, so that it
   * may be dropped without being released: Flink drops elements while it redistributes what was in
   * flight in an unaligned checkpoint, and knows of no release.
   */
  public static ColumnBatch ofKeyGroup(LazyTable lazyTable, int keyGroup) {
    ColumnBatch batch = new ColumnBatch(NONE, keyGroup, OptionalLong.empty());
    batch.lazyTable = lazyTable;
    return batch;
  }

  /**
   * The table of the stream's schema, still owned by this batch.
   *
   * @throws IllegalStateException if the batch was released
   */
  public synchronized Table table() {
    Table all = tableWithEventTimes();
    if (visible == null) {
      visible = EventTimeColumn.isIn(all.schema()) ? EventTimeColumn.removeFrom(all) : all;
    }
    return visible;
  }

  /**
   * The table, still owned by this batch, with an {@link EventTimeColumn} behind its columns if
   * this batch's rows keep their own event times. An operator that makes its batches of this table,
   * not of {@link #table}, keeps the times with their rows.
   *
   * @throws IllegalStateException if the batch was released
   */
  public synchronized Table tableWithEventTimes() {
    checkLive(references.get());
    if (table == null) {
      table = lazyTable.load();
      lazyTable = null;
      LIVE.incrementAndGet();
    }
    return table;
  }

  /** The source of the table until its first use; empty afterwards. */
  public synchronized Optional<LazyTable> lazyTable() {
    checkLive(references.get());
    return Optional.ofNullable(lazyTable);
  }

  /** Exact number of rows; as {@link Table#rowCount}, may wait for the device. */
  public int rowCount() {
    return table().rowCount();
  }

  /** The downstream subtask that the keyed exchange sends this batch to, else {@link #NONE}. */
  public int target() {
    return target;
  }

  /** The key group of all rows, if the keyed exchange sends one batch a key group, else NONE. */
  public int keyGroup() {
    return keyGroup;
  }

  /**
   * The time of the batch, in milliseconds since the epoch, if operators one behind the other share
   * it: that of the first one's machine.
   */
  public OptionalLong processingTime() {
    return processingTime;
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
      closeTable();
    }
  }

  private synchronized void closeTable() {
    lazyTable = null;
    if (table != null) {
      LIVE.decrementAndGet();
      if (visible != null && visible != table) {
        visible.close();
      }
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

  /** Batches of this process that hold a table now. */
  public static long liveBatches() {
    return LIVE.get();
  }

  private void checkLive(int count) {
    if (count == 0) {
      throw new IllegalStateException(this + " is released");
    }
  }

  @Override
  public synchronized String toString() {
    return "ColumnBatch{"
        + (table == null ? lazyTable : table)
        + ", references="
        + references
        + (target == NONE ? "" : ", target=" + target)
        + (keyGroup == NONE ? "" : ", keyGroup=" + keyGroup)
        + "}";
  }
}
