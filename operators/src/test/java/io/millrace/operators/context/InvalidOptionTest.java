// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.TableSourceOperator;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A job with an option that has a value which it cannot have. */
@ExtendWith(NothingHeldExtension.class)
class InvalidOptionTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final Schema SCHEMA = Schema.of(Field.of("n", DataType.INT64));

  @Test
  void aWeightBelowOneIsRefusedWhenTheJobIsBuilt() {
    Configuration options = new Configuration();
    options.set(MemoryOptions.MANAGED_WEIGHT, 0);
    StreamExecutionEnvironment environment = flink.environment(1, options);
    DataStream<Long> numbers = environment.fromSequence(0, 3);
    assertThatThrownBy(() -> TableSourceOperator.batches(numbers, SCHEMA, n -> List.of(List.of(n))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("millrace.spill.managed-weight: expected at least 1, got 0");
  }

  @ParameterizedTest
  @CsvSource({
    "millrace.device, tpu",
    "millrace.gpu.batches-in-flight, -1",
    "millrace.gpu.batches-in-flight, many",
    "millrace.spill.statistics-level, 7",
    "millrace.spill.device-limit, 0 b",
    "millrace.device.memory-limit, 1 mb"
  })
  void failsForGoodWhateverTheRestartStrategy(String option, String value) throws Exception {
    StreamExecutionEnvironment environment =
        flink.environment(1, Configuration.fromMap(Map.of(option, value)));
    Configuration restarts = new Configuration();
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, Integer.MAX_VALUE);
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(1));
    environment.configure(restarts);
    ColumnStream.fromBatches(
            TableSourceOperator.batches(
                environment.fromSequence(0, 3), SCHEMA, n -> List.of(List.of(n))))
        .toRowData()
        .sinkTo(new DiscardingSink<>());
    FlinkJob job = flink.submit(environment);
    assertThatThrownBy(job::await).hasMessageContaining(option);
    assertThat(job.status()).isEqualTo(JobStatus.FAILED);
  }
}
