// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RowCollector;
import io.millrace.operators.transform.FailedRows;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Identifiers, names and parallelism of the operators that steps become. */
@ExtendWith(NothingHeldExtension.class)
class ColumnStreamOperatorsTest {
  private static final Schema BIDS =
      Schema.of(Field.of("auction", DataType.INT64), Field.of("price", DataType.INT32));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private final StreamExecutionEnvironment environment =
      flink.environment(2, new Configuration().set(PipelineOptions.AUTO_GENERATE_UIDS, false));

  private RowStream<Row> rows() {
    DataStream<Row> rows =
        environment
            .fromData(ExternalRowDecoder.typeInformation(BIDS), Row.of(1L, 500), Row.of(2L, 2_000))
            .uid("source");
    return ColumnStream.from(rows, BIDS);
  }

  private Map<String, StreamNode> nodes() {
    return environment.getStreamGraph(false).getStreamNodes().stream()
        .collect(Collectors.toMap(StreamNode::getTransformationUID, node -> node));
  }

  @Test
  void aJobWhoseOperatorsAllHaveIdentifiersNeedsNoneOfFlinks() throws Exception {
    ColumnStream stream =
        rows()
            .batch()
            .uid("batch")
            .filter(col("price").gt(100))
            .withColumn("twice", col("price").times(2))
            .uid("expensive")
            .name("expensive bids")
            .keyBy("auction")
            .uid("by-auction")
            .sortWithinBatch(col("price").asc())
            .uid("sorted")
            .rebalance()
            .uid("balanced");
    stream.toRows().uid("rows").sinkTo(new DiscardingSink<>()).uid("sink");

    Map<String, StreamNode> nodes = nodes();
    assertThat(nodes)
        .containsKeys("batch", "expensive", "by-auction", "by-auction-partition", "sorted")
        .containsKeys("balanced", "balanced-partition", "rows");
    assertThat(nodes.get("expensive").getOperatorName()).isEqualTo("expensive bids");
    flink.run(environment);
  }

  @Test
  void anIdentifierEndsAnOperator() {
    ColumnStream stream =
        rows().batch().filter(col("price").gt(1)).uid("first").filter(col("price").gt(2));
    assertThat(stream.explain())
        .isEqualTo(
            """
            1. Batch Row [host]
            2. Calc(where=(price > 1), select=[auction, price]) [GPU if there is one]
            3. Calc(where=(price > 2), select=[auction, price]) [GPU if there is one]
            """);
  }

  @Test
  void bothOperatorsOfAnExchangeHaveItsName() {
    rows().batch().uid("batch").keyBy("auction").uid("keyed").name("per auction").toBatches();
    Map<String, StreamNode> nodes = nodes();
    assertThat(nodes.get("keyed").getOperatorName()).isEqualTo("per auction");
    assertThat(nodes.get("keyed-partition").getOperatorName()).isEqualTo("per auction partition");
  }

  @Test
  void theOperatorsOfAUnionHaveIdentifiersAndTheLargestParallelism() {
    RowStream<Row> rows = rows();
    ColumnStream few = rows.batch().uid("few");
    ColumnStream many = rows.batch().setParallelism(3).uid("many");
    few.union(many).uid("both").name("both streams");
    Map<String, StreamNode> nodes = nodes();
    assertThat(nodes.get("both").getOperatorName()).isEqualTo("both streams");
    assertThat(nodes.get("both").getParallelism()).isEqualTo(3);
    assertThat(nodes.get("both-partition-1").getParallelism()).isEqualTo(2);
    assertThat(nodes.get("both-partition-2").getParallelism()).isEqualTo(3);
  }

  @Test
  void aUnionOfOneStreamIsThatStream() {
    ColumnStream bids = rows().batch();
    assertThat(bids.union().uid("alone").explain()).isEqualTo(bids.explain());
  }

  @Test
  void aPartitioningOfBatchesIsNotAnOperator() {
    ColumnStream given = ColumnStream.fromBatches(rows().batch().toBatches().rebalance());
    assertThatThrownBy(() -> given.uid("rebalanced"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("there is no operator yet");
  }

  @Test
  void stepsThatDistributeRowsHaveAParallelismAndLaterOnesTheSame() {
    rows()
        .batch()
        .setParallelism(3)
        .uid("batch")
        .filter(col("price").gt(1))
        .uid("filter")
        .keyBy("auction")
        .setParallelism(4)
        .uid("keyed")
        .filter(col("price").gt(2))
        .uid("filter keyed");
    Map<String, StreamNode> nodes = nodes();
    assertThat(nodes.get("batch").getParallelism()).isEqualTo(3);
    assertThat(nodes.get("filter").getParallelism()).isEqualTo(3);
    assertThat(nodes.get("keyed-partition").getParallelism()).isEqualTo(3);
    assertThat(nodes.get("keyed").getParallelism()).isEqualTo(4);
    assertThat(nodes.get("filter keyed").getParallelism()).isEqualTo(4);
  }

  @Test
  void stepsWithOthersBehindThemStayAsTheyAre() {
    ColumnStream keyed = rows().batch().keyBy("auction");
    keyed.filter(col("price").gt(1)).uid("filtered");
    assertThatThrownBy(() -> keyed.setParallelism(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("there are steps behind this one already");
    assertThatThrownBy(() -> keyed.uid("keyed")).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void stepsThatKeepRowsInTheirSubtasksHaveNoParallelismOfTheirOwn() {
    ColumnStream bids = rows().batch();
    assertThatThrownBy(() -> bids.filter(col("price").gt(1)).setParallelism(3))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("call rebalance() before setParallelism");
    assertThatThrownBy(() -> bids.sortWithinBatch(col("price").asc()).setParallelism(3))
        .isInstanceOf(IllegalStateException.class);
    DataStream<VectorSchemaRoot> roots = bids.toArrow();
    assertThatThrownBy(() -> ColumnStream.fromArrow(roots, BIDS).setParallelism(3))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void rowsThatAnExpressionFailsForGoToASideOutput() throws Exception {
    StreamExecutionEnvironment job = flink.environment(1);
    Schema texts = Schema.of(Field.of("id", DataType.INT64), Field.of("text", DataType.STRING));
    DataStream<Row> rows =
        job.fromData(
            ExternalRowDecoder.typeInformation(texts),
            Row.of(1L, "17"),
            Row.of(2L, "seventeen"),
            Row.of(3L, "18"));
    ColumnStream numbers =
        ColumnStream.from(rows, texts)
            .batch()
            .select(col("text").cast(DataType.INT32).as("number"))
            .skipFailedRows()
            .name("parse numbers")
            .uid("numbers");
    RowCollector<Integer> parsed = new RowCollector<>();
    parsed.collect(numbers.toRows(), row -> row.getFieldAs("number"));
    RowCollector<Long> failed = new RowCollector<>();
    ColumnStream failedRows = numbers.failedRows();
    assertThat(failedRows.schema().names()).containsExactly("id", "text", FailedRows.REASON);
    assertThat(failedRows.explain())
        .isEqualTo(
            """
            1. Batch Row [host]
            2. Calc(select=[CAST(text AS INT) AS number]) [GPU if there is one]
            3. Failed rows
            """);
    failed.collect(failedRows.toRows(), row -> row.getFieldAs("id"));
    assertThat(job.getStreamGraph(false).getStreamNodes())
        .anySatisfy(
            node -> {
              assertThat(node.getTransformationUID()).isEqualTo("numbers");
              assertThat(node.getOperatorName()).isEqualTo("parse numbers");
            });
    flink.run(job);
    assertThat(parsed.rows()).containsExactlyInAnyOrder(17, 18);
    assertThat(failed.rows()).containsExactly(2L);
  }

  @Test
  void onlyFiltersAndProjectionsHaveFailedRows() {
    ColumnStream bids = rows().batch();
    assertThatThrownBy(bids::skipFailedRows)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "skipFailedRows belongs right behind a filter or a projection, but the last step is"
                + " Batch Row");
    assertThatThrownBy(bids::failedRows)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "failedRows belongs right behind skipFailedRows, but the last step is Batch Row");
    ColumnStream skipping = bids.filter(col("price").gt(1)).skipFailedRows();
    assertThatThrownBy(skipping.drop("price")::failedRows)
        .isInstanceOf(IllegalStateException.class);
  }
}
