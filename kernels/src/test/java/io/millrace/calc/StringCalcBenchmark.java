// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.col;

import io.millrace.column.Table;
import io.millrace.expression.resolve.ResolutionContext;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** A LIKE filter that selects a quarter of the rows, and a SUBSTRING of the selected rows. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class StringCalcBenchmark {
  /** Selects a quarter of the rows. */
  public static final String PATTERN = "%/auction/%";

  private Calc calc;

  /** Compiles the calc. */
  @Setup
  public void create(StringInput input) {
    calc =
        Calc.of(
            input.table.schema(),
            Optional.of(col("url").like(PATTERN)),
            List.of(col("url").substring(7, 12).as("part")),
            ResolutionContext.DEFAULT);
  }

  /** The number of selected rows. */
  public int rows(StringInput input) {
    create(input);
    return likeAndSubstring(input);
  }

  /** Filters and projects, waits for the row count, and frees the output. */
  @Benchmark
  public int likeAndSubstring(StringInput input) {
    try (Table output = calc.apply(input.table, input.stream, input.memory)) {
      return output.rowCount();
    }
  }
}
