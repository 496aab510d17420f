// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RowCollector;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A changelog's rows keep their kinds, whatever is done with their columns. */
@ExtendWith(NothingHeldExtension.class)
class ColumnStreamChangelogTest {
  private static final int SAMPLED_IDS = 200;
  private static final Schema CHANGES =
      RowKindColumn.addTo(
          Schema.of(
              new Field("id", DataType.INT64, false),
              Field.of("price", DataType.INT32),
              Field.of("tags", DataType.list(DataType.STRING))));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private final StreamExecutionEnvironment environment = flink.environment(1);

  /** A row as users get it: what they could see of a changelog. */
  public static final class Price {
    public long id;
    public Integer price;
  }

  private ColumnStream changes() {
    return changes(
        Row.ofKind(RowKind.INSERT, 1L, 500, new String[] {"a", "b"}),
        Row.ofKind(RowKind.UPDATE_BEFORE, 1L, 500, new String[] {"a", "b"}),
        Row.ofKind(RowKind.UPDATE_AFTER, 1L, 100, new String[] {}),
        Row.ofKind(RowKind.DELETE, 1L, 100, new String[] {}));
  }

  private ColumnStream changes(Row... rows) {
    DataStream<Row> stream =
        environment.fromData(rows).returns(ExternalRowDecoder.typeInformation(CHANGES));
    return ColumnStream.from(stream, CHANGES).batch(BatchOptions.DEFAULT.withRows(3, 3));
  }

  private List<String> run(ColumnStream stream) throws Exception {
    RowCollector<String> collector = new RowCollector<>();
    collector.collect(stream.toRows(), Row::toString);
    flink.run(environment);
    return collector.rows();
  }

  @Test
  void selectKeepsTheKinds() throws Exception {
    assertThat(run(changes().select(col("price").plus(1).as("more"), col("id"))))
        .containsExactly("+I[501, 1]", "-U[501, 1]", "+U[101, 1]", "-D[101, 1]");
  }

  @Test
  void columnsComeBeforeTheKind() throws Exception {
    ColumnStream stream =
        changes().withColumn("twice", col("price").times(2)).drop("tags").withColumn("id", lit(7));
    assertThat(stream.schema().names()).containsExactly("id", "price", "twice", RowKindColumn.NAME);
    assertThat(run(stream))
        .containsExactly(
            "+I[7, 500, 1000]", "-U[7, 500, 1000]", "+U[7, 100, 200]", "-D[7, 100, 200]");
  }

  @Test
  void conditionsMayReadTheKind() throws Exception {
    assertThat(
            run(
                changes()
                    .filter(col(RowKindColumn.NAME).isEqual(lit(RowKind.DELETE.toByteValue())))
                    .select(col("id"))))
        .containsExactly("-D[1]");
  }

  @Test
  void aChangelogBecomesRowsWithTheirOperation() throws Exception {
    CalcPlan plan =
        CalcPlan.of(CHANGES, ExpressionSettings.DEFAULT)
            .filter(col("price").lt(1_000))
            .toChangelog("op");
    assertThat(plan.outputSchema().names()).containsExactly("op", "id", "price", "tags");
    assertThat(plan.outputSchema().field(0).nullable()).isFalse();
    ColumnStream stream =
        changes()
            .transform(
                "changes", plan.outputSchema(), TransformOperator.factory(plan.transforms()));
    assertThat(run(stream))
        .containsExactly(
            "+I[INSERT, 1, 500, [a, b]]",
            "+I[UPDATE_BEFORE, 1, 500, [a, b]]",
            "+I[UPDATE_AFTER, 1, 100, []]",
            "+I[DELETE, 1, 100, []]");
    CalcPlan rows = CalcPlan.of(plan.outputSchema(), ExpressionSettings.DEFAULT);
    assertThatThrownBy(() -> rows.toChangelog("op")).isInstanceOf(ExpressionException.class);
  }

  @Test
  void explodedRowsHaveTheKindOfTheirRow() throws Exception {
    assertThat(run(changes().explodeOuter("tags").drop("price")))
        .containsExactly(
            "+I[1, a]", "+I[1, b]", "-U[1, a]", "-U[1, b]", "+U[1, null]", "-D[1, null]");
  }

  @Test
  void aRowAndItsRetractionAreSampledTogether() throws Exception {
    Row[] rows = new Row[2 * SAMPLED_IDS];
    for (int i = 0; i < SAMPLED_IDS; i++) {
      rows[i] = Row.ofKind(RowKind.INSERT, (long) i, i, null);
      rows[SAMPLED_IDS + i] = Row.ofKind(RowKind.DELETE, (long) i, i, null);
    }
    List<String> sampled = run(changes(rows).sample(0.5, 42).select(col("id")));
    List<String> inserted = sampled.stream().filter(row -> row.startsWith("+I")).toList();
    assertThat(inserted).hasSizeBetween(SAMPLED_IDS / 4, 3 * SAMPLED_IDS / 4);
    assertThat(sampled.stream().filter(row -> row.startsWith("-D")))
        .containsExactlyElementsOf(inserted.stream().map(row -> row.replace("+I", "-D")).toList());
  }

  @Test
  void theKindIsNeitherDroppedNorReplaced() {
    ColumnStream changes = changes();
    String kept = "'$row_kind' is the kind of each row, which stays with it";
    assertThatThrownBy(() -> changes.drop("id", RowKindColumn.NAME))
        .isInstanceOf(ExpressionException.class)
        .hasMessageStartingWith(kept);
    assertThatThrownBy(() -> changes.withColumn(RowKindColumn.NAME, lit((byte) 0)))
        .isInstanceOf(ExpressionException.class)
        .hasMessageStartingWith(kept);
    assertThatThrownBy(() -> changes.select(col("id").as(RowKindColumn.NAME)))
        .isInstanceOf(ExpressionException.class)
        .hasMessageStartingWith(kept);
    assertThatThrownBy(() -> changes.drop("id", "price", "tags")).hasMessage("nothing is selected");
  }

  @Test
  void stepsThatWouldLoseKindsOrTheirOrderAreRefusedWhenTheyAreAdded() {
    ColumnStream changes = changes();
    assertThatThrownBy(() -> changes.sortWithinBatch(col("price").asc()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the rows of a changelog cannot be sorted");
    assertThatThrownBy(() -> changes.select(col("id"), col("price")).toPojo(Price.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a POJO cannot hold the kind");
    assertThatThrownBy(() -> changes.keyBy("id", RowKindColumn.NAME))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cannot be a key");
  }
}
