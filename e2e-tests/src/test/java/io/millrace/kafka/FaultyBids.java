// SPDX-License-Identifier: Apache-2.0
package io.millrace.kafka;

import io.millrace.connectors.kafka.sink.KafkaRecord;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.state.CheckpointListener;

/**
 * Hands records on, and throws some times: each time some records after a checkpoint was completed.
 * Counts the records and the checkpoints.
 */
final class FaultyBids implements MapFunction<KafkaRecord, KafkaRecord>, CheckpointListener {
  private static final long serialVersionUID = 1L;
  private static final int RECORDS_AFTER_CHECKPOINT = 100;
  private static final AtomicLong NEXT = new AtomicLong();
  private static final Map<Long, Progress> PROGRESS = new ConcurrentHashMap<>();

  private final long number = NEXT.getAndIncrement();
  private final int failures;
  private boolean checkpointed;
  private int records;

  /** What all subtasks of all attempts have done. */
  private static final class Progress {
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicLong records = new AtomicLong();
    private final AtomicLong checkpoints = new AtomicLong();
  }

  FaultyBids(int failures) {
    this.failures = failures;
    PROGRESS.put(number, new Progress());
  }

  /** How often it threw. */
  int failures() {
    return progress().failures.get();
  }

  long records() {
    return progress().records.get();
  }

  long checkpoints() {
    return progress().checkpoints.get();
  }

  private Progress progress() {
    return PROGRESS.get(number);
  }

  @Override
  public KafkaRecord map(KafkaRecord record) {
    progress().records.incrementAndGet();
    if (checkpointed && ++records > RECORDS_AFTER_CHECKPOINT && mayFail()) {
      throw new IllegalStateException("failing on purpose");
    }
    return record;
  }

  private boolean mayFail() {
    return progress().failures.getAndUpdate(n -> Math.min(n + 1, failures)) < failures;
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) {
    checkpointed = true;
    progress().checkpoints.incrementAndGet();
  }
}
