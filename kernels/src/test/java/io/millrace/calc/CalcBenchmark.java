// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.col;

import io.millrace.column.Table;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.kernel.partition.PartitionInput;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A filter that selects a random half of the rows, and two projections, including output allocation
 * and the row count on the host. Reads 24 bytes per row and writes 16 bytes per selected row.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class CalcBenchmark {
  private static final int BYTES_MOVED = 24 + 16 / 2;

  private Calc calc;
  private Buffer source;
  private Buffer target;

  /** Compiles the calc and allocates the buffers of the copy. */
  @Setup
  public void create(PartitionInput input) {
    calc =
        Calc.of(
            input.table.schema(),
            Optional.of(col("key").lt(0L)),
            List.of(col("key").plus(col("number")).as("sum"), col("half").times(0.908).as("part")),
            ResolutionContext.DEFAULT);
    long bytes = (long) input.rows * BYTES_MOVED / 2;
    source = Buffer.allocate(bytes, input.stream, input.memory);
    target = Buffer.allocate(bytes, input.stream, input.memory);
  }

  /** The number of selected rows. */
  public int rows(PartitionInput input) {
    create(input);
    try {
      return filterAndProject(input);
    } finally {
      close();
    }
  }

  /** Filters and projects, waits for the row count, and frees the output. */
  @Benchmark
  public int filterAndProject(PartitionInput input) {
    try (Table output = calc.apply(input.table, input.stream, input.memory)) {
      return output.rowCount();
    }
  }

  /** Upper bound: a copy within the device that reads and writes the same number of bytes. */
  @Benchmark
  public void copyOfAsManyBytes(PartitionInput input) {
    try (AccessScope scope = AccessScope.on(input.stream)) {
      input.stream.copy(
          target.access(AccessMode.WRITE, scope),
          source.access(AccessMode.READ, scope),
          source.size());
    }
    input.stream.synchronize();
  }

  /** Frees the buffers of the copy. */
  @TearDown
  public void close() {
    source.close();
    target.close();
  }
}
