// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.context.DeviceOptions;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.TableSourceOperator;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.Collections;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every batch of a job is released exactly once, however the job ends. */
@ExtendWith(NothingHeldExtension.class)
class BatchOwnershipTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final Schema SCHEMA = Schema.of(new Field("id", DataType.INT64, false));
  private static final int ROWS_PER_BATCH = 10;
  private static final long BATCHES = 50;

  /** Passes batches on, some by making new ones and some as they are, keeps one, and may fail. */
  private static final class PassOperator extends ColumnBatchOperator<ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private final long failAtBatch;
    private transient ColumnBatch last;
    private transient long count;

    PassOperator(StreamOperatorParameters<ColumnBatch> parameters, long failAtBatch) {
      super(parameters);
      this.failAtBatch = failAtBatch;
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
      if (count++ == failAtBatch) {
        throw new IllegalStateException("failed as told");
      }
      if (last != null) {
        last.release();
      }
      last = batch.retain();
      if (count % 2 == 0) {
        output.collect(element);
      } else {
        ColumnBatch.emit(element.copy(new ColumnBatch(batch.table().share())), output);
      }
    }

    @Override
    public void close() throws Exception {
      if (last != null) {
        last.release();
      }
      super.close();
    }
  }

  private static SingleOutputStreamOperator<ColumnBatch> pass(
      DataStream<ColumnBatch> batches, long failAtBatch) {
    return batches.transform(
        "pass",
        new ColumnBatchTypeInformation(SCHEMA),
        new OperatorFactory<>(
            PassOperator.class, parameters -> new PassOperator(parameters, failAtBatch)));
  }

  private static StreamExecutionEnvironment environment(boolean objectReuse) {
    Configuration options = new Configuration();
    options.set(PipelineOptions.OBJECT_REUSE, objectReuse);
    return flink.environment(2, options);
  }

  /** Two consumers chained to the first operator, and one behind the network if there is one. */
  private static BatchCollector build(
      StreamExecutionEnvironment environment, boolean network, long batches, long failAtBatch) {
    DataStream<ColumnBatch> source =
        TableSourceOperator.batches(
            environment.fromSequence(0, batches - 1),
            SCHEMA,
            number -> Collections.nCopies(ROWS_PER_BATCH, List.of(number)));
    DataStream<ColumnBatch> passed = pass(source, Long.MAX_VALUE);
    pass(passed, Long.MAX_VALUE);
    DataStream<ColumnBatch> second = pass(network ? passed.rebalance() : passed, failAtBatch);
    BatchCollector collector = new BatchCollector();
    collector.collect(second);
    return collector;
  }

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void aFinishedJobHoldsNothing(boolean objectReuse, boolean network) throws Exception {
    StreamExecutionEnvironment environment = environment(objectReuse);
    BatchCollector collector = build(environment, network, BATCHES, Long.MAX_VALUE);
    flink.run(environment);
    assertThat(collector.batches()).hasSize((int) BATCHES);
    assertThat(collector.rows().stream().mapToLong(row -> (Long) row.get(0)).sum())
        .isEqualTo(ROWS_PER_BATCH * BATCHES * (BATCHES - 1) / 2);
  }

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void aFailedJobHoldsNothing(boolean objectReuse, boolean network) {
    StreamExecutionEnvironment environment = environment(objectReuse);
    build(environment, network, Long.MAX_VALUE, 20);
    assertThatThrownBy(() -> flink.run(environment)).hasMessageContaining("failed as told");
  }

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void aCanceledJobHoldsNothing(boolean objectReuse, boolean network) throws Exception {
    StreamExecutionEnvironment environment = environment(objectReuse);
    BatchCollector collector = build(environment, network, Long.MAX_VALUE, Long.MAX_VALUE);
    FlinkJob job = flink.submit(environment);
    job.awaitRunning();
    job.awaitUntil(() -> collector.batches().size() >= 10);
    job.cancel();
  }

  @Test
  void theJobsConfigurationChoosesTheDevice() {
    Configuration options = new Configuration();
    options.set(DeviceOptions.DEVICE, "abacus");
    StreamExecutionEnvironment environment = flink.environment(1, options);
    build(environment, false, BATCHES, Long.MAX_VALUE);
    assertThatThrownBy(() -> flink.run(environment))
        .hasMessageContaining("expected auto, cuda or host for millrace.device, got 'abacus'");
  }
}
