// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.arithmetic;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.vector.BatchContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RandomFunctionsTest {
  private static final int ROWS = 5_000;
  private static final int SEED = -77;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** The rows of the projections of a table with the values 0 to {@code rows} - 1. */
  private List<List<Object>> apply(
      int rows, BatchContext batch, Optional<Expression> condition, Expression... projections) {
    List<Expression> columns = new ArrayList<>();
    for (Expression projection : projections) {
      columns.add(projection.as("c" + columns.size()));
    }
    Object[] values = new Object[rows];
    for (int i = 0; i < rows; i++) {
      values[i] = i;
    }
    try (Table table = new TableBuilder().column("a", DataType.INT32, values).build(device);
        Calc calc =
            Calc.of(table.schema(), condition, columns, ResolutionContext.DEFAULT.withBatch());
        Table result = calc.apply(table, batch, device.stream(), device.memory())) {
      List<List<Object>> read = device.rows(result);
      device.stream().synchronize();
      return read;
    }
  }

  private List<Object> column(BatchContext batch, Expression expression) {
    return apply(ROWS, batch, Optional.empty(), expression).stream().map(r -> r.get(0)).toList();
  }

  private static BatchContext batch(long firstRow) {
    return new BatchContext(0, 0, 42, firstRow);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 3, 1_000_000})
  void theSeedGivesTheNumbersOfJavaFromAnyRowOn(long firstRow) {
    Random expected = new Random(SEED);
    expected.doubles(firstRow).forEach(skipped -> {});

    assertThat(column(batch(firstRow), call("RAND", SEED)))
        .allSatisfy(value -> assertThat(value).isEqualTo(expected.nextDouble()));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 10, 1 << 30, Integer.MAX_VALUE})
  void boundedNumbersAreThoseOfJava(int bound) {
    Random expected = new Random(SEED);

    assertThat(column(batch(0), call("RAND_INTEGER", SEED, bound)))
        .allSatisfy(value -> assertThat(value).isEqualTo(expected.nextInt(bound)));
  }

  @Test
  void numbersOfABoundThatDoesNotDivideAreDrawnAgain() {
    int bound = (1 << 30) + 1;
    for (int row = 0; row < ROWS; row++) {
      Random expected = new Random(SEED);
      for (int drawn = 0; drawn < row; drawn++) {
        expected.nextInt();
      }
      assertThat(RandomSequence.intAt(SEED, row, bound)).isEqualTo(expected.nextInt(bound));
    }
  }

  @Test
  void aColumnOfSeedsGivesTheFirstNumberOfEach() {
    List<List<Object>> rows =
        apply(
            ROWS,
            batch(9),
            Optional.empty(),
            call("RAND", col("a")),
            call("RAND_INTEGER", col("a"), 1000));

    for (int seed = 0; seed < ROWS; seed++) {
      assertThat(rows.get(seed))
          .containsExactly(new Random(seed).nextDouble(), new Random(seed).nextInt(1000));
    }
  }

  @Test
  void callsWithoutASeedAreIndependentAndRepeatable() {
    BatchContext batch = new BatchContext(0, 0, random.random().nextLong(), 5);
    Optional<Expression> half = Optional.of(call("RAND").lt(0.5));

    List<List<Object>> rows = apply(ROWS, batch, half, call("RAND"), call("RAND"));

    assertThat(rows).hasSizeBetween(ROWS * 2 / 5, ROWS * 3 / 5);
    assertThat(rows).noneMatch(row -> row.get(0).equals(row.get(1)));
    assertThat(rows.stream().filter(row -> (double) row.get(0) < 0.5).count())
        .isBetween(rows.size() * 2L / 5, rows.size() * 3L / 5);
    assertThat(apply(ROWS, batch, half, call("RAND"), call("RAND"))).isEqualTo(rows);
  }

  @Test
  void aRowFailsUnlessTheBoundIsPositive() {
    assertThatThrownBy(
            () ->
                apply(3, batch(0), Optional.empty(), call("RAND_INTEGER", lit(1).minus(col("a")))))
        .isInstanceOfSatisfying(
            EvaluationException.class, failure -> assertThat(failure.row()).isEqualTo(1));
  }

  @Test
  void eachUuidIsAnother() {
    List<List<Object>> rows = apply(ROWS, batch(0), Optional.empty(), call("UUID"), call("UUID"));

    HashSet<Object> all = new HashSet<>();
    rows.forEach(all::addAll);
    assertThat(all)
        .hasSize(2 * ROWS)
        .allMatch(
            uuid ->
                ((String) uuid)
                    .matches(
                        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  }
}
