// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static io.millrace.operators.deduplicate.Deduplication.keepFirst;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.api.KeyedColumnStream;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The same changes as Flink SQL with a time-to-live that does not end within the job: each update
 * of a key is emitted, also if its result stays the same.
 */
class StateTtlParityTest {
  private static final Schema ROWS =
      Schema.of(new Field("k", DataType.INT32, false), Field.of("x", DataType.INT32));
  private static final Duration TTL = Duration.ofDays(1);

  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final StreamExecutionEnvironment environment =
      StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(1);

  private Row[] rows() {
    return IntStream.range(0, 200)
        .mapToObj(
            i ->
                Row.of(
                    random.random().nextInt(5),
                    random.random().nextInt(3) == 0 ? null : random.random().nextInt(2)))
        .toArray(Row[]::new);
  }

  private List<String> flink(String query, Row... rows) throws Exception {
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.getConfig().setIdleStateRetention(TTL);
    DataStream<Row> stream = environment.fromData(ExternalRowDecoder.typeInformation(ROWS), rows);
    org.apache.flink.table.api.Schema schema =
        org.apache.flink.table.api.Schema.newBuilder()
            .columnByExpression("p", "PROCTIME()")
            .build();
    tables.createTemporaryView("t", tables.fromDataStream(stream, schema));
    CollectedRows collected = CollectedRows.of(tables.toChangelogStream(tables.sqlQuery(query)));
    environment.execute();
    return collected.take().stream().map(Row::toString).toList();
  }

  private List<String> millrace(Function<KeyedColumnStream, ColumnStream> step, Row... rows)
      throws Exception {
    DataStream<Row> stream =
        environment.fromData(
            ExternalRowDecoder.typeInformation(new Schema(RowKindColumn.rowFields(ROWS))), rows);
    KeyedColumnStream keyed =
        ColumnStream.from(WatermarkEvery.appendTo(stream, 1), ROWS)
            .batch(BatchOptions.DEFAULT.withRows(1, 1))
            .keyBy("k")
            .stateTtl(TTL);
    CollectedRows collected = CollectedRows.of(step.apply(keyed).toRows());
    environment.execute();
    return collected.take().stream().map(Row::toString).toList();
  }

  @Test
  void updatesThatChangeNothingAreEmitted() throws Exception {
    Row[] rows = rows();
    List<String> expected =
        flink("SELECT k, SUM(x) AS s, COUNT(x) AS n, MAX(x) AS m FROM t GROUP BY k", rows);
    assertThat(millrace(keyed -> keyed.aggregate(sum("x"), count("x"), max("x")), rows))
        .isEqualTo(expected)
        .hasSizeGreaterThan(300);
  }

  @Test
  void firstRowsAreTheSame() throws Exception {
    Row[] rows = rows();
    List<String> expected =
        flink(
            "SELECT k, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) AS n FROM t)"
                + " WHERE n = 1",
            rows);
    assertThat(millrace(keyed -> keyed.deduplicate(keepFirst()), rows)).isEqualTo(expected);
  }
}
