// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.wire.ColumnBatchSerializer;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.LongStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows to batches and back in a job on a cluster. */
@ExtendWith(NothingHeldExtension.class)
class RowsThroughBatchesTest {
  private static final long ROWS = 20_000;
  private static final BatchOptions OPTIONS =
      BatchOptions.latency(Duration.ofMillis(5)).withRows(1, 1_000);
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("name", DataType.STRING));
  private static final Queue<Long> SEEN = new ConcurrentLinkedQueue<>();

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @BeforeEach
  void forget() {
    SEEN.clear();
  }

  @ParameterizedTest(name = "object reuse {0}, over the network {1}")
  @CsvSource({"true,true", "true,false", "false,true", "false,false"})
  void everyRowComesOutOnce(boolean objectReuse, boolean overTheNetwork) throws Exception {
    StreamExecutionEnvironment environment = environment(objectReuse);
    DataStream<RowData> rows =
        environment
            .fromSequence(1, ROWS)
            .map(RowsThroughBatchesTest::row)
            .returns(InternalTypeInfo.of(SchemaConverter.toRowType(SCHEMA)));
    DataStream<ColumnBatch> batches = ColumnStream.from(rows, SCHEMA).batch(OPTIONS).toBatches();
    ColumnStream.fromBatches(overTheNetwork ? batches.rebalance() : batches)
        .toRowData()
        .filter(RowsThroughBatchesTest::see)
        .sinkTo(new DiscardingSink<>());
    flink.run(environment);
    assertEachOnce();
  }

  private static RowData row(long id) {
    return GenericRowData.of(id, StringData.fromString("name of " + id));
  }

  private static boolean see(RowData row) {
    assertThat(row.getString(1)).hasToString("name of " + row.getLong(0));
    return SEEN.add(row.getLong(0));
  }

  @OutOfMemoryTest(onCluster = true)
  void rowsWithJavaTypesComeOutOnce() throws Exception {
    StreamExecutionEnvironment environment = environment(true);
    DataStream<Row> rows =
        environment
            .fromSequence(1, ROWS)
            .map(id -> Row.of(id, "name of " + id))
            .returns(ExternalRowDecoder.typeInformation(SCHEMA));
    ColumnStream.from(rows, SCHEMA)
        .batch(OPTIONS)
        .toRows()
        .filter(row -> SEEN.add(row.<Long>getFieldAs("id")))
        .sinkTo(new DiscardingSink<>());
    flink.run(environment);
    assertEachOnce();
  }

  @Test
  void batchesOfAnySizePassWhereChainingIsOff() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    environment.disableOperatorChaining();
    String name = "x".repeat(2 * ColumnBatchSerializer.FAST_BYTES / (int) ROWS);
    DataStream<RowData> rows =
        environment
            .fromSequence(1, ROWS)
            .map(id -> (RowData) GenericRowData.of(id, StringData.fromString(name)))
            .returns(InternalTypeInfo.of(SchemaConverter.toRowType(SCHEMA)));
    SingleOutputStreamOperator<RowData> unbatched =
        ColumnStream.from(rows, SCHEMA)
            .batch(OPTIONS.withRows((int) ROWS, (int) ROWS).withLatency(Duration.ofHours(1)))
            .setParallelism(1)
            .toRowData();
    assertThat(unbatched.getParallelism()).isEqualTo(1);
    unbatched.filter(row -> SEEN.add(row.getLong(0))).sinkTo(new DiscardingSink<>());
    flink.run(environment);
    assertEachOnce();
  }

  private static StreamExecutionEnvironment environment(boolean objectReuse) {
    Configuration options = new Configuration();
    options.set(PipelineOptions.OBJECT_REUSE, objectReuse);
    StreamExecutionEnvironment environment = flink.environment(2, options);
    environment.enableCheckpointing(20);
    return environment;
  }

  private static void assertEachOnce() {
    assertThat(SEEN.stream().sorted())
        .containsExactlyElementsOf(LongStream.rangeClosed(1, ROWS).boxed().toList());
  }
}
