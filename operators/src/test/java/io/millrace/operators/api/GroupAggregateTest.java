// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RowCollector;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class GroupAggregateTest {
  private static final Schema BIDS =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          Field.of("price", DataType.INT32),
          new Field("bidder", DataType.INT64, false));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private final StreamExecutionEnvironment environment = flink.environment(1);

  private ColumnStream bids(int batchRows, Row... rows) {
    return stream(BIDS, batchRows, rows);
  }

  private ColumnStream stream(Schema schema, int batchRows, Row... rows) {
    DataStream<Row> stream =
        environment.fromData(rows).returns(ExternalRowDecoder.typeInformation(schema));
    return ColumnStream.from(stream, schema)
        .batch(BatchOptions.DEFAULT.withRows(batchRows, batchRows));
  }

  private List<String> run(ColumnStream stream) throws Exception {
    RowCollector<String> collector = new RowCollector<>();
    collector.collect(stream.toRows(), Row::toString);
    flink.run(environment);
    return collector.rows();
  }

  @Test
  void allFunctionsLeaveNullsOut() throws Exception {
    ColumnStream bids =
        bids(
            3,
            Row.of(1L, 10, 7L),
            Row.of(2L, 20, 7L),
            Row.of(1L, 30, 8L),
            Row.of(2L, null, 8L),
            Row.of(3L, null, 9L),
            Row.of(3L, null, 9L));
    assertThat(
            run(
                bids.keyBy("auction")
                    .aggregate(
                        count().as("rows"),
                        count("price").as("prices"),
                        sum("price").as("total"),
                        min("price").as("low"),
                        max("price").as("high"),
                        avg("price").as("mean"))))
        .containsExactly(
            "+I[1, 2, 2, 40, 10, 30, 20]",
            "+I[2, 2, 1, 20, 20, 20, 20]",
            "+I[3, 2, 0, null, null, null, null]");
  }

  @Test
  void aBatchAndItsDifferentValuesAreOneChange() throws Exception {
    ColumnStream bids =
        bids(
            3,
            Row.of(1L, 10, 7L),
            Row.of(1L, 10, 8L),
            Row.of(1L, null, 7L),
            Row.of(1L, 10, 9L),
            Row.of(1L, 20, 7L));
    assertThat(
            run(
                bids.keyBy("auction")
                    .aggregate(
                        count().as("bids"),
                        count("price").distinct().as("prices"),
                        sum("bidder").distinct().filter(col("price").gt(5)).as("bidders"))
                    .uid("aggregates")
                    .name("aggregates")))
        // No change has the rows of a batch without their values.
        .noneMatch(row -> row.contains(", 0, "))
        .last()
        .isIn("+I[1, 5, 2, 24]", "+U[1, 5, 2, 24]");
  }

  @Test
  void explainNamesTheDifferentValues() {
    ColumnStream result =
        bids(1, Row.of(1L, 1, 1L)).keyBy("auction").aggregate(count("price").distinct().as("n"));
    assertThat(result.explain())
        .contains(
            "Distinct(`price`)",
            "of index for each key and value: auction, ",
            "GroupAggregate(groupBy=[auction], select=[auction, COUNT(DISTINCT `price`) AS n])");
  }

  @Test
  void extremesOfAChangelogAreThoseOfTheRowsThatAreLeft() throws Exception {
    Row[] bids = {Row.of(1L, 10, 7L), Row.of(1L, 20, 8L), Row.of(2L, 30, 7L), Row.of(1L, 10, 7L)};
    ColumnStream highest =
        bids(1, bids)
            .keyBy("auction")
            .aggregate(count().as("bids"), max("price").as("highest"))
            .keyBy("highest")
            .aggregate(count().as("n"), min("bids").as("least"));
    ColumnStream extremes =
        highest
            .keyBy("n")
            .aggregate(
                count().as("rows"),
                min("highest").as("low"),
                max("highest").as("high"),
                max("least").filter(col("highest").gt(15)).as("bids"))
            .uid("extremes")
            .name("extremes");
    assertThat(extremes.explain())
        .contains(
            "Extremes(`highest`)",
            "of index for each key and value: n, EXTREMES(`highest`), COUNT(*)",
            "GroupAggregate(groupBy=[n], select=[n, COUNT(*) AS rows, MIN(`highest`) AS low");
    // Highest prices are 20 with 3 bids and 30 with 1 bid.
    assertThat(run(extremes)).last().isIn("+I[1, 2, 20, 30, 3]", "+U[1, 2, 20, 30, 3]");
  }

  @Test
  void typesOfResultsAreThoseOfFlink() {
    ColumnStream result =
        bids(1, Row.of(1L, 1, 1L))
            .keyBy("auction")
            .aggregate(
                count().as("n"), sum("price").as("s"), avg("bidder").as("a"), max("price").as("m"));
    assertThat(result.schema())
        .isEqualTo(
            RowKindColumn.addTo(
                Schema.of(
                    new Field("auction", DataType.INT64, false),
                    new Field("n", DataType.INT64, false),
                    Field.of("s", DataType.INT32),
                    new Field("a", DataType.INT64, false),
                    Field.of("m", DataType.INT32))));
  }

  @Test
  void argumentsAndFiltersAreExpressions() throws Exception {
    ColumnStream bids =
        bids(10, Row.of(1L, 10, 7L), Row.of(1L, 25, 8L), Row.of(1L, null, 9L), Row.of(1L, 40, 9L));
    assertThat(
            run(
                bids.keyBy("auction")
                    .aggregate(
                        count().filter(col("price").gt(20)).as("expensive"),
                        sum(col("price").times(2)).filter(col("bidder").ne(7L)).as("doubled"))))
        .containsExactly("+I[1, 2, 130]");
  }

  @Test
  void severalNullableKeyColumnsMakeOneKey() throws Exception {
    Schema schema =
        Schema.of(
            Field.of("a", DataType.INT32),
            Field.of("b", DataType.BOOL),
            new Field("v", DataType.INT64, false));
    ColumnStream rows =
        stream(
            schema,
            10,
            Row.of(1, null, 1L),
            Row.of(null, true, 2L),
            Row.of(1, null, 4L),
            Row.of(0, true, 8L),
            Row.of(null, true, 16L));
    assertThat(run(rows.keyBy("a", "b").aggregate(sum("v").as("s"))))
        .containsExactlyInAnyOrder("+I[1, null, 5]", "+I[null, true, 18]", "+I[0, true, 8]");
  }

  @Test
  void retractedRowsAreTakenOut() throws Exception {
    Schema changes = RowKindColumn.addTo(BIDS);
    ColumnStream bids =
        stream(
            changes,
            1,
            Row.ofKind(RowKind.INSERT, 1L, 10, 7L),
            Row.ofKind(RowKind.INSERT, 1L, 30, 8L),
            Row.ofKind(RowKind.DELETE, 1L, 10, 7L),
            Row.ofKind(RowKind.UPDATE_BEFORE, 1L, 30, 8L),
            Row.ofKind(RowKind.UPDATE_AFTER, 1L, null, 8L));
    assertThat(run(bids.keyBy("auction").aggregate(sum("price").as("s"), count().as("n"))))
        .last()
        .isIn("+I[1, null, 1]", "+U[1, null, 1]");
  }

  @Test
  void aggregatesOfAggregatesAreTakenBackAndReplaced() throws Exception {
    ColumnStream bids = bids(1, Row.of(1L, 10, 7L), Row.of(2L, 20, 7L), Row.of(1L, 30, 7L));
    assertThat(
            run(
                bids.keyBy("auction")
                    .aggregate(count().as("bids"))
                    .keyBy("bids")
                    .aggregate(count().as("auctions"))))
        .contains("+I[2, 1]")
        .last()
        .isIn("+I[1, 1]", "+U[1, 1]", "+I[2, 1]");
  }

  @Test
  void explainNamesTheAggregates() {
    ColumnStream result =
        bids(1, Row.of(1L, 1, 1L)).keyBy("auction").aggregate(count().as("n"), max("price"));
    assertThat(result.explain())
        .contains(
            """
            GroupAggregate(groupBy=[auction], select=[auction, COUNT(*) AS n, MAX(`price`)]) [GPU if\
             there is one]
               state: 32 bytes of row and 9 to 14 bytes of index for each key: auction, COUNT(*),\
             MAX(`price`), COUNT(`price`)
            """);
  }

  @Test
  void explainNamesWhatTheHostComputes() {
    ColumnStream stream =
        stream(
            Schema.of(Field.of("k", DataType.INT32), Field.of("x", DataType.FLOAT64)),
            1,
            Row.of(1, 1.0));
    assertThat(stream.keyBy("k").aggregate(count(col("x").cast(DataType.STRING))).explain())
        .contains("[GPU if there is one]")
        .endsWith(
            """
               on the host: CAST: Java's digits of a floating-point number
               state: 32 bytes of row and 9 to 14 bytes of index for each key: k, COUNT(CAST(`x` AS\
             STRING))
            """);
  }

  @Test
  void unsupportedAggregatesAreRefused() {
    ColumnStream stream =
        stream(
            Schema.of(Field.of("k", DataType.INT32), Field.of("x", DataType.BOOL)),
            1,
            Row.of(1, true));
    assertThatThrownBy(() -> stream.keyBy("k").aggregate(sum("x")))
        .isInstanceOf(ExpressionException.class)
        .hasMessage("SUM(`x`) is not supported: its argument is BOOLEAN");
    assertThatThrownBy(() -> stream.keyBy("k").aggregate())
        .isInstanceOf(ExpressionException.class)
        .hasMessage("expected an aggregate");
    assertThatThrownBy(() -> stream.keyBy("k").aggregate(count().as("n"), count("x").as("n")))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("'n'");
  }
}
