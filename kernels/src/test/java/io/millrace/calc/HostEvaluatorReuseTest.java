// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A calc reuses its host evaluators for later tables, in any thread. */
class HostEvaluatorReuseTest {
  private static final Schema SCHEMA =
      Schema.of(Field.of("name", DataType.STRING), Field.of("price", DataType.INT64));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static List<Object> row(int i) {
    return Arrays.asList(i % 5 == 0 ? null : "name " + i, i % 7 == 0 ? null : (long) i);
  }

  private Table table(int rows) {
    List<List<Object>> values = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      values.add(row(i));
    }
    return TableBuilder.ofRows(SCHEMA, values).buildOnHost(device);
  }

  private static Calc calc() {
    return Calc.of(
        SCHEMA,
        Optional.of(col("price").gt(2).or(col("name").isNull())),
        List.of(
            call("CONCAT", col("name"), lit(" of a suffix that is a literal")).as("text"),
            col("price").coalesce(-1L).times(3).as("triple")),
        ResolutionContext.DEFAULT);
  }

  private static List<List<Object>> expected(int rows) {
    List<List<Object>> expected = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      Object name = row(i).get(0);
      Long price = (Long) row(i).get(1);
      if (name == null || (price != null && price > 2)) {
        String text = name == null ? null : name + " of a suffix that is a literal";
        expected.add(Arrays.asList(text, price == null ? -3L : 3 * price));
      }
    }
    return expected;
  }

  private void assertApplied(Calc calc, int rows, DeviceStream stream) {
    try (Table input = table(rows);
        Table output = calc.apply(input, stream, device.hostMemory())) {
      assertThat(device.rows(output)).isEqualTo(expected(rows));
    }
  }

  @Test
  void tablesGrowAndShrink() {
    try (Calc calc = calc()) {
      for (int rows : new int[] {0, 1, 3, 2, 1_000, 1, 1_024, 1_025, 3_000, 5, 0}) {
        assertApplied(calc, rows, device.hostStream());
      }
    }
  }

  @Test
  void threadsShareACalc() throws Exception {
    int threads = 6;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    CyclicBarrier start = new CyclicBarrier(threads);
    List<Future<?>> done = new ArrayList<>();
    try (Calc calc = calc()) {
      for (int thread = 0; thread < threads; thread++) {
        int firstRows = 1 + 170 * thread;
        done.add(
            executor.submit(
                () -> {
                  start.await();
                  applyOften(calc, firstRows);
                  return null;
                }));
      }
      for (Future<?> future : done) {
        future.get();
      }
    } finally {
      executor.shutdown();
    }
  }

  private void applyOften(Calc calc, int firstRows) {
    try (DeviceStream stream = HostDevice.INSTANCE.createStream()) {
      for (int i = 0; i < 40; i++) {
        assertApplied(calc, (firstRows + 331 * i) % 1_500, stream);
      }
    }
  }

  @Test
  void aRowThatFailsDoesNotSpoilTheNextTable() {
    try (Calc calc =
            Calc.of(
                SCHEMA,
                Optional.empty(),
                List.of(lit(100L).dividedBy(col("price").minus(2)).as("share")),
                ResolutionContext.DEFAULT);
        Table failing = table(20);
        Table good = failing.slice(3, 1)) {
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> apply(calc, failing).close())
            .isInstanceOf(EvaluationException.class)
            .hasMessageContaining("at row 2");
        try (Table output = apply(calc, good)) {
          assertThat(device.rows(output)).containsExactly(List.of(100L));
        }
      }
    }
  }

  private Table apply(Calc calc, Table input) {
    return calc.apply(input, device.hostStream(), device.hostMemory());
  }

  @Test
  void aClosedCalcStillWorksWithoutPoolingEvaluators() {
    Calc calc = calc();
    assertApplied(calc, 10, device.hostStream());
    calc.close();
    assertApplied(calc, 2_000, device.hostStream());
    assertApplied(calc, 10, device.hostStream());
  }
}
