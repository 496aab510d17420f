// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RecordingMetricReporter;
import java.time.Duration;
import java.util.UUID;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Flink's record counts, of operators and of tasks, count rows. */
@ExtendWith(NothingHeldExtension.class)
class RecordCountsTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final Schema SCHEMA = Schema.of(new Field("id", DataType.INT64, false));
  private static final int ROWS = 10_000;
  private static final int KEPT = ROWS / 2;

  private final String job = "record-counts-" + UUID.randomUUID();

  private ColumnStream batches(StreamExecutionEnvironment environment) {
    DataStream<Row> rows =
        environment
            .fromSequence(0, ROWS - 1)
            .name("numbers")
            .map(Row::of)
            .returns(Types.ROW_NAMED(new String[] {"id"}, Types.LONG))
            .name("rows");
    BatchOptions options = BatchOptions.DEFAULT.withRows(100, 100);
    return ColumnStream.from(rows, SCHEMA)
        .batch(options.withLatency(Duration.ofHours(1)))
        .name("batch")
        .filter(col("id").lt(KEPT))
        .name("filter");
  }

  private StreamExecutionEnvironment environment() {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.NAME, job);
    return flink.environment(2, configuration);
  }

  private long count(String operator, String metric) {
    return RecordingMetricReporter.count(job, operator, metric);
  }

  private void assertRecords(String operator, long in, long out) {
    assertThat(count(operator, "numRecordsIn")).as("into %s", operator).isEqualTo(in);
    assertThat(count(operator, "numRecordsOut")).as("out of %s", operator).isEqualTo(out);
  }

  @Test
  void eachOperatorAndTaskCountsRows() throws Exception {
    StreamExecutionEnvironment environment = environment();
    batches(environment)
        .keyBy("id")
        .name("exchange")
        .toRows()
        .name("unbatch")
        .sinkTo(new DiscardingSink<>())
        .name("sink");
    flink.run(environment);
    assertRecords("batch", ROWS, ROWS);
    assertRecords("filter", ROWS, KEPT);
    assertRecords("exchange partition", KEPT, KEPT);
    assertRecords("exchange", KEPT, KEPT);
    assertRecords("unbatch", KEPT, KEPT);
    assertThat(count("batch", "numBatchesOut")).isEqualTo(ROWS / 100);
    assertThat(count("filter", "numBatchesIn")).isEqualTo(ROWS / 100);
    assertThat(count("filter", "numBatchesOut")).isEqualTo(ROWS / 100);
    assertThat(count("exchange", "numBatchesOut"))
        .isPositive()
        .isEqualTo(count("unbatch", "numBatchesIn"));
    assertThat(
            count(
                "Source: numbers -> rows -> batch -> filter -> exchange partition",
                "numRecordsOut"))
        .isEqualTo(KEPT);
    assertThat(count("exchange -> unbatch -> sink: Writer", "numRecordsIn")).isEqualTo(KEPT);
  }

  @Test
  void rowsOfArrowRootsCountToo() throws Exception {
    StreamExecutionEnvironment environment = environment();
    ColumnStream.fromArrow(batches(environment).toArrow(), SCHEMA)
        .name("from arrow")
        .toRows()
        .name("unbatch")
        .sinkTo(new DiscardingSink<>());
    flink.run(environment);
    assertRecords("Unbatch Arrow", KEPT, KEPT);
    assertRecords("from arrow", KEPT, KEPT);
    assertRecords("unbatch", KEPT, KEPT);
  }
}
