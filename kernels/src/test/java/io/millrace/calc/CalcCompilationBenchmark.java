// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.col;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.TypedExpression;
import java.util.ArrayList;
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
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Time from an expression of 50 nodes to a kernel that can be launched. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 2)
@Measurement(iterations = 1, time = 5)
@Fork(0)
public class CalcCompilationBenchmark {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("a", DataType.INT64),
          Field.of("b", DataType.INT64),
          Field.of("c", DataType.FLOAT64),
          Field.of("d", DataType.FLOAT64));

  private long constant = System.nanoTime();

  /** Resolves, generates and compiles, with a new constant each time to defeat the cache. */
  @Benchmark
  public Object compile() {
    return compiled(constant++);
  }

  /** Compiles the same expression again. */
  @Benchmark
  public Object compileAgain() {
    return compiled(-1);
  }

  /** Generates the text of the kernel; needs no GPU. */
  @Benchmark
  public Object generate() {
    return calc(constant++).program();
  }

  /** Computes the cache key of the kernel; needs no GPU. */
  @Benchmark
  public Object identify() {
    Calc calc = calc(constant++);
    List<TypedExpression> roots = new ArrayList<>(calc.projections());
    roots.add(0, calc.condition().orElseThrow());
    return KernelIdentity.of(true, roots, List.of()).hashCode();
  }

  private static CalcKernel compiled(long number) {
    try (Calc calc = calc(number)) {
      return calc.computed().kernel(Device.current(), true);
    }
  }

  private static Calc calc(long number) {
    Expression first = col("a").plus(number);
    Expression second = col("c").times(1.5);
    for (int i = 0; i < 7; i++) {
      first = first.times(col("b").minus((long) i));
      second = second.plus(col("d").dividedBy(i + 0.5));
    }
    return Calc.of(
        SCHEMA,
        Optional.of(first.gt(0L)),
        List.of(first.as("x"), second.as("y")),
        ResolutionContext.DEFAULT);
  }
}
