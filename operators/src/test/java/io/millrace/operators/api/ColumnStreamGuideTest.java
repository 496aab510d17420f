// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.decimal;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ColumnFunction;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RowCollector;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The examples of docs/column-stream.md, as {@link ColumnStreamPageTest} finds them there. */
@ExtendWith(NothingHeldExtension.class)
class ColumnStreamGuideTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private final StreamExecutionEnvironment environment = flink.environment(1);

  private static final Schema BIDS =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          Field.of("price", DataType.INT32),
          Field.of("channel", DataType.STRING),
          Field.of("tags", DataType.list(DataType.STRING)));

  /** What is left of a bid. */
  public static final class Sale {
    public long auction;
    public BigDecimal eur;

    public Sale() {}
  }

  private DataStream<Row> rows() {
    return environment
        .fromData(
            Row.of(1L, 500, "Apple", new String[] {"fruit"}),
            Row.of(2L, null, "Google", new String[0]),
            Row.of(3L, 2_000, null, null),
            Row.of(4L, 1_500, "Baidu", new String[] {"web", "search"}))
        .returns(ExternalRowDecoder.typeInformation(BIDS));
  }

  private ColumnStream bids() {
    return ColumnStream.from(rows(), BIDS).batch(BatchOptions.DEFAULT.withRows(4, 4));
  }

  private List<List<Object>> collect(ColumnStream stream) throws Exception {
    BatchCollector collector = new BatchCollector();
    collector.collect(stream.toBatches());
    flink.run(environment);
    return collector.rows();
  }

  @Test
  void aFirstStream() throws Exception {
    DataStream<Row> rows = rows();

    Schema schema =
        Schema.of(
            new Field("auction", DataType.INT64, false),
            Field.of("price", DataType.INT32),
            Field.of("channel", DataType.STRING),
            Field.of("tags", DataType.list(DataType.STRING)));
    ColumnStream bids =
        ColumnStream.from(rows, schema).batch(BatchOptions.latency(Duration.ofMillis(20)));
    DataStream<Row> expensive =
        bids.filter(col("price").gt(1_000))
            .select(col("auction"), col("price").times(decimal("0.908")).as("eur"))
            .toRows();

    RowCollector<Object> collector = new RowCollector<>();
    collector.collect(expensive, row -> row.getField("eur"));
    flink.run(environment);
    assertThat(collector.rows())
        .containsExactly(new BigDecimal("1816.000"), new BigDecimal("1362.000"));
  }

  @Test
  void mistakesAreSaidWhenTheLineIsWritten() {
    ColumnStream bids = bids();

    assertThatThrownBy(() -> bids.filter(col("prise").gt(1_000)))
        .hasMessageStartingWith("there is no column 'prise'; did you mean 'price'?");
    assertThatThrownBy(() -> bids.filter(col("price")))
        .hasMessage("a condition is BOOLEAN, but `price` is INT");
    assertThatThrownBy(() -> bids.select(call("UPER", col("channel"))))
        .hasMessageStartingWith("there is no function UPER; did you mean 'UPPER'?");
  }

  @Test
  void stepsInARowAreOneOperator() throws Exception {
    ColumnStream bids = bids();

    ColumnStream expensive =
        bids.withColumn("twice", col("price").times(2))
            .withColumn("ratio", lit(1).dividedBy(0))
            .filter(col("twice").gt(1_000))
            .drop("ratio", "channel", "tags");
    assertThat(expensive.explain())
        .isEqualTo(
            """
            1. Batch Row [host]
            2. Calc(where=((price * 2) > 1000), select=[auction, price, (price * 2) AS twice]) [GPU if there is one]
            """);

    assertThat(collect(expensive))
        .containsExactly(List.of(3L, 2_000, 4_000), List.of(4L, 1_500, 3_000));
  }

  @Test
  void elementsBecomeRows() throws Exception {
    ColumnStream bids = bids();

    ColumnStream tags = bids.select(col("auction"), col("tags")).explodeOuter("tags");

    assertThat(collect(tags))
        .containsExactly(
            List.of(1L, "fruit"),
            Arrays.asList(2L, null),
            Arrays.asList(3L, null),
            List.of(4L, "web"),
            List.of(4L, "search"));
  }

  @Test
  void batchesAreSortedAndSampled() throws Exception {
    ColumnStream bids = bids();

    ColumnStream sorted =
        bids.select(col("auction"), col("price"))
            .sample(1.0, 42)
            .sortWithinBatch(col("price").desc().withNullsFirst(), col("auction").asc());

    assertThat(collect(sorted))
        .containsExactly(
            Arrays.asList(2L, null), List.of(3L, 2_000), List.of(4L, 1_500), List.of(1L, 500));
  }

  @Test
  void streamsAreJoinedAndRedistributed() throws Exception {
    ColumnStream bids = bids();

    ColumnStream cheap = bids.filter(col("price").lt(1_000));
    ColumnStream anonymous = bids.filter(col("channel").isNull());
    ColumnStream byAuction =
        cheap.union(anonymous).select(col("auction"), col("price")).keyBy("auction");

    assertThat(collect(byAuction)).containsExactlyInAnyOrder(List.of(1L, 500), List.of(3L, 2_000));
  }

  @Test
  void aFunctionInJava() throws Exception {
    ColumnStream bids = bids();

    UserDefinedFunction initials =
        UserDefinedFunction.named("INITIAL")
            .arguments(DataType.STRING)
            .returns(DataType.STRING)
            .as(
                ColumnFunction.ofRow(
                    (operands, result, row) ->
                        result.setString(row, operands[0].getString(row).substring(0, 1))));
    ColumnStream initialed =
        bids.registerFunction(initials).select(call("INITIAL", col("channel")).as("initial"));
    assertThat(initialed.explain()).contains("on the host: INITIAL: plain Java of the user");

    assertThat(collect(initialed))
        .containsExactly(List.of("A"), List.of("G"), Arrays.asList((Object) null), List.of("B"));
  }

  @Test
  void aFunctionInCuda() throws Exception {
    ColumnStream bids = bids();
    String ptx;
    try (InputStream resource =
        getClass().getResourceAsStream("/io/millrace/calc/discounted.ptx")) {
      ptx = new String(resource.readAllBytes(), StandardCharsets.US_ASCII);
    }

    UserDefinedFunction discounted =
        UserDefinedFunction.named("DISCOUNTED")
            .arguments(DataType.FLOAT64, DataType.INT32)
            .returns(DataType.FLOAT64)
            .device("discounted", ptx)
            .as(
                ColumnFunction.ofRow(
                    (operands, result, row) ->
                        result.doubles()[row] =
                            operands[0].doubles()[row] * (100 - operands[1].longs()[row]) / 100));
    ColumnStream sale =
        bids.registerFunction(discounted)
            .select(call("DISCOUNTED", col("price"), 15).as("discounted"));

    assertThat(collect(sale))
        .containsExactly(
            List.of(425.0), Arrays.asList((Object) null), List.of(1_700.0), List.of(1_275.0));
  }

  @Test
  void rowsLeaveAsPojosArrowOrBatches() throws Exception {
    ColumnStream bids = bids();

    ColumnStream sales =
        bids.filter(col("price").gt(1_000))
            .select(col("auction"), col("price").times(decimal("0.908")).as("eur"));
    DataStream<Sale> pojos = sales.toPojo(Sale.class);
    DataStream<VectorSchemaRoot> roots = sales.toArrow();
    DataStream<ColumnBatch> batches = sales.toBatches();

    RowCollector<Long> auctions = new RowCollector<>();
    auctions.collect(pojos, sale -> sale.auction);
    RowCollector<Integer> sizes = new RowCollector<>();
    sizes.collect(roots, VectorSchemaRoot::getRowCount);
    BatchCollector collector = new BatchCollector();
    collector.collect(batches);
    flink.run(environment);
    assertThat(auctions.rows()).containsExactly(3L, 4L);
    assertThat(sizes.rows()).containsExactly(2);
    assertThat(collector.rows()).hasSize(2);
  }
}
