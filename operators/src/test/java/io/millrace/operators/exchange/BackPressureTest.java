// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceOptions;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.TableSourceOperator;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tasks that wait for each other's network buffers share one permit and do not stand still. */
@ExtendWith(NothingHeldExtension.class)
class BackPressureTest {
  private static final Schema SCHEMA =
      Schema.of(Field.of("key", DataType.INT64), Field.of("text", DataType.STRING));
  private static final int BATCHES = 40;
  private static final int ROWS_PER_BATCH = 16;
  // A batch takes many network buffers, of 32 KiB each.
  private static final String TEXT = "x".repeat(40_000);

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  /** Lets batches pass slowly. */
  private static final class SlowOperator extends ColumnBatchOperator<ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private SlowOperator(StreamOperatorParameters<ColumnBatch> parameters) {
      super(parameters);
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element)
        throws InterruptedException {
      Thread.sleep(10);
      output.collect(element);
    }
  }

  @BeforeEach
  void givePermitsOneByOne() {
    System.setProperty(DeviceOptions.GPU_CONCURRENCY.key(), "1");
  }

  @AfterEach
  void clear() {
    System.clearProperty(DeviceOptions.GPU_CONCURRENCY.key());
  }

  private static List<List<Object>> rows(long batch) {
    return LongStream.range(batch * ROWS_PER_BATCH, (batch + 1) * ROWS_PER_BATCH)
        .mapToObj(key -> List.<Object>of(key, TEXT))
        .toList();
  }

  private static DataStream<ColumnBatch> exchange(DataStream<ColumnBatch> batches) {
    return BatchExchange.keyBy(batches, "key")
        .coalesce(CoalesceOptions.DEFAULT.withRows(1))
        .apply();
  }

  @Test
  @Timeout(300)
  void onePermitIsEnoughUnderBackPressure() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(FlinkCluster.SLOTS);
    DataStream<ColumnBatch> batches =
        TableSourceOperator.batches(
            environment.fromSequence(0, BATCHES - 1), SCHEMA, BackPressureTest::rows);
    BatchCollector collector = new BatchCollector();
    collector.collect(
        exchange(exchange(batches))
            .transform(
                "slow",
                new ColumnBatchTypeInformation(SCHEMA),
                new OperatorFactory<>(SlowOperator.class, SlowOperator::new)));
    flink.run(environment);
    assertThat(collector.rows()).hasSize(BATCHES * ROWS_PER_BATCH);
  }
}
