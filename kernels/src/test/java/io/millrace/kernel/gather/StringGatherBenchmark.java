// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import io.millrace.column.Table;
import io.millrace.kernel.partition.StringsInput;
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

/** Gathers a column of strings in random order: output allocation included. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class StringGatherBenchmark {
  /** Gathers, waits, and frees the output. */
  @Benchmark
  public int gather(StringsInput input) {
    try (Table output = gathered(input)) {
      input.stream.synchronize();
      return output.rowCount();
    }
  }

  /** The measured operation; the caller closes the output. */
  public static Table gathered(StringsInput input) {
    return Gather.gather(input.texts, input.map.column(0), input.stream, input.memory);
  }
}
