package io.millrace.expression;

import static io.millrace.expression.Expressions.col;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.HostMemoryResource;
import io.millrace.testing.TableBuilder;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Prints how long IN takes on the host for lists of constants: to compile, and for a row.
 * Arguments: the numbers of constants.
 */
final class ConstantListBenchmark {
  private static final int ROWS = 65_536;
  private static final int ROUNDS = 5;
  private static final long ROUND_NANOS = 300_000_000;
  // Of the thread alone, so that it does not matter what else the machine does.
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  private ConstantListBenchmark() {}

  public static void main(String[] arguments) {
    for (String count : arguments) {
      int constants = Integer.parseInt(count);
      measure("longs", DataType.INT64, constants, i -> (long) i * 7);
      measure("ints for a BIGINT", DataType.INT64, constants, i -> i * 7);
      measure("strings", DataType.STRING, constants, i -> "customer " + i * 7);
    }
  }

  private static void measure(
      String name, DataType type, int constants, IntFunction<Object> constant) {
    Object[] list = IntStream.range(0, constants).mapToObj(constant).toArray();
    HostMemoryResource memory = HostMemoryResource.INSTANCE;
    TableBuilder builder = new TableBuilder();
    // One row in seven is found.
    Object[] values =
        IntStream.range(0, ROWS)
            .mapToObj(row -> (int) ((row * 2_654_435_761L) >>> 8) % (7 * constants))
            .map(i -> type.equals(DataType.STRING) ? (Object) ("customer " + i) : (Object) (long) i)
            .toArray();
    try (DeviceStream stream = memory.device().createStream();
        Table table = builder.column("x", type, values).buildOnHost(stream, memory)) {
      long compiled = Long.MAX_VALUE;
      long row = Long.MAX_VALUE;
      for (int round = 0; round < ROUNDS; round++) {
        long start = CLOCK.getCurrentThreadCpuTime();
        Calc calc =
            Calc.of(
                table.schema(),
                Optional.empty(),
                List.of(col("x").in(list).as("found")),
                ResolutionContext.DEFAULT);
        int length = calc.program().ptx().length();
        compiled = Math.min(compiled, CLOCK.getCurrentThreadCpuTime() - start);
        row = Math.min(row, nanosOfRun(calc, table, stream) * 10 / ROWS);
        if (round == ROUNDS - 1) {
          System.out.printf(
              Locale.ROOT,
              "%d %s: resolved and generated in %.1f ms (%d bytes of PTX), %.1f ns a row%n",
              constants,
              name,
              compiled / 1e6,
              length,
              row / 10.0);
        }
      }
    }
  }

  private static long nanosOfRun(Calc calc, Table table, DeviceStream stream) {
    long best = Long.MAX_VALUE;
    long end = CLOCK.getCurrentThreadCpuTime() + ROUND_NANOS;
    do {
      long start = CLOCK.getCurrentThreadCpuTime();
      calc.apply(table, stream, HostMemoryResource.INSTANCE).close();
      best = Math.min(best, CLOCK.getCurrentThreadCpuTime() - start);
    } while (CLOCK.getCurrentThreadCpuTime() < end);
    return best;
  }
}
