// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import io.millrace.operators.testing.FlinkCluster;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Hands elements on, slowly, and throws once: some elements after a checkpoint was completed. Then
 * it hands them on at full speed.
 */
public final class FailOnce<T> implements MapFunction<T, T>, CheckpointListener {
  private static final long serialVersionUID = 1L;
  private static final AtomicLong NEXT = new AtomicLong();
  private static final Map<Long, AtomicBoolean> FAILED = new ConcurrentHashMap<>();
  private static final int ELEMENTS_AFTER_CHECKPOINT = 10;

  private final long number = NEXT.getAndIncrement();
  private boolean checkpointed;
  private int elements;

  /** An environment of two slots whose jobs have checkpoints, and start again when they fail. */
  public static StreamExecutionEnvironment restartingEnvironment(FlinkCluster flink) {
    StreamExecutionEnvironment environment = flink.environment(2);
    environment.enableCheckpointing(50);
    Configuration restart = new Configuration();
    restart.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restart.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 10);
    restart.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
    environment.configure(restart);
    return environment;
  }

  public FailOnce() {
    FAILED.put(number, new AtomicBoolean());
  }

  /** Whether it threw. */
  public boolean hasFailed() {
    return FAILED.get(number).get();
  }

  @Override
  public T map(T value) throws Exception {
    if (!hasFailed()) {
      Thread.sleep(1);
      if (checkpointed
          && ++elements > ELEMENTS_AFTER_CHECKPOINT
          && FAILED.get(number).compareAndSet(false, true)) {
        throw new IllegalStateException("failing once");
      }
    }
    return value;
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) {
    checkpointed = true;
  }
}
