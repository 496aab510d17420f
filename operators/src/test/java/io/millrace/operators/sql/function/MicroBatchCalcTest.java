// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.expression.error.EvaluationException;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.LongStream;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Micro-batches of rows of Java objects. */
@ExtendWith(NothingHeldExtension.class)
class MicroBatchCalcTest {
  private static final int ROWS = 100;
  private static final MicroBatchExpressions EXPRESSIONS =
      MicroBatchExpressions.parse(
          "id BIGINT, name STRING", "name || '!' AS loud, 100 / (id - 50) AS quotient");

  private static List<Row> rows(long first, long end) {
    return LongStream.range(first, end)
        .mapToObj(id -> Row.of(id, id % 7 == 0 ? null : "name " + id))
        .toList();
  }

  private static List<Row> results(long first, long end) {
    return LongStream.range(first, end)
        .mapToObj(id -> Row.of(id % 7 == 0 ? null : "name " + id + "!", 100 / (id - 50)))
        .toList();
  }

  @OutOfMemoryTest
  void resultsAreInTheOrderOfRows() {
    try (MicroBatchCalc calc = new MicroBatchCalc(EXPRESSIONS)) {
      assertThat(calc.evaluate(rows(51, 51 + ROWS))).isEqualTo(results(51, 51 + ROWS));
      assertThat(calc.evaluate(rows(0, 1))).isEqualTo(results(0, 1));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"id + RAND()", "CURRENT_TIMESTAMP", "id, UUID()"})
  void expressionsOfMoreThanTheRowAreRefused(String expressions) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MicroBatchExpressions.parse("id BIGINT", expressions))
        .withMessageEndingWith("without the current time and random numbers, got " + expressions);
  }

  @OutOfMemoryTest
  void aRowThatFailsIsNamed() {
    try (MicroBatchCalc calc = new MicroBatchCalc(EXPRESSIONS)) {
      assertThatThrownBy(() -> calc.evaluate(rows(40, 60)))
          .isInstanceOfSatisfying(
              EvaluationException.class, failure -> assertThat(failure.row()).isEqualTo(10));
    }
  }

  @Test
  void aRowThatFailsDoesNotFailOthers() throws Exception {
    MicroBatchThread thread =
        new MicroBatchThread(
            MicroBatchExpressions.parse("id BIGINT, name STRING", "100 / MOD(id, 25) AS quotient"));
    List<CompletableFuture<Object>> futures = new ArrayList<>();
    for (Row row : rows(0, ROWS)) {
      CompletableFuture<Object> future = new CompletableFuture<>();
      futures.add(future);
      thread.add(row, future);
    }
    for (int id = 0; id < ROWS; id++) {
      CompletableFuture<Object> future = futures.get(id);
      if (id % 25 == 0) {
        assertThatThrownBy(future::join)
            .isInstanceOf(CompletionException.class)
            .hasMessageContaining("division by zero");
      } else {
        assertThat(future.join()).isEqualTo(100 / (id % 25));
      }
    }
    thread.close();
    CompletableFuture<Object> late = new CompletableFuture<>();
    thread.add(Row.of(1L, "late"), late);
    assertThatThrownBy(late::join).isInstanceOf(CancellationException.class);
  }
}
