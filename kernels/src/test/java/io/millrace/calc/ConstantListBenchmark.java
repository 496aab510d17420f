// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.testing.TableBuilder;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Prints the time for long lists of constants on the host: first compilation, best compilation, and
 * per row. The first compilation of the first list includes the start of a cold process. Arguments:
 * numbers of constants, and kinds of lists such as {@code STRINGS}; default: all kinds.
 */
final class ConstantListBenchmark {
  private static final int ROWS = 65_536;
  private static final int ROUNDS = 10;
  private static final long ROUND_NANOS = 150_000_000;
  // CPU time of the thread, independent of the load of the machine.
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  private ConstantListBenchmark() {}

  private enum Lists {
    LONGS,
    INTS_FOR_A_BIGINT,
    STRINGS,
    OR_OF_LONGS,
    CASE_OF_LONGS;

    private Object value(int number) {
      return this == STRINGS ? (Object) ("customer " + number) : (Object) (long) number;
    }

    private Object constant(int number) {
      return this == INTS_FOR_A_BIGINT ? (Object) number : value(number);
    }

    private Expression expression(Object[] constants) {
      return switch (this) {
        case LONGS, INTS_FOR_A_BIGINT, STRINGS -> col("x").in(constants);
        case OR_OF_LONGS -> call("OR", equalities(constants).toArray());
        case CASE_OF_LONGS ->
            new Expression.Case(
                equalities(constants).toList(),
                Stream.concat(
                        Stream.of(constants).map(constant -> lit((Long) constant + 1)),
                        Stream.of(nullOf(DataType.INT64)))
                    .toList());
      };
    }

    private static Stream<Expression> equalities(Object[] constants) {
      Expression value = col("x");
      return Stream.of(constants).map(value::isEqual);
    }
  }

  public static void main(String[] arguments) {
    List<Integer> counts = new ArrayList<>();
    Set<Lists> named = EnumSet.noneOf(Lists.class);
    for (String argument : arguments) {
      if (Character.isDigit(argument.charAt(0))) {
        counts.add(Integer.parseInt(argument));
      } else {
        named.add(Lists.valueOf(argument));
      }
    }
    for (int count : counts) {
      for (Lists list : named.isEmpty() ? EnumSet.allOf(Lists.class) : named) {
        measure(list, count);
      }
    }
  }

  private static void measure(Lists list, int count) {
    Object[] constants = IntStream.range(0, count).mapToObj(i -> list.constant(i * 7)).toArray();
    HostMemoryResource memory = HostMemoryResource.INSTANCE;
    // One row in seven matches.
    Object[] values =
        IntStream.range(0, ROWS)
            .mapToObj(row -> list.value((int) (((row * 2_654_435_761L) >>> 8) % (7L * count))))
            .toArray();
    DataType type = list == Lists.STRINGS ? DataType.STRING : DataType.INT64;
    try (DeviceStream stream = memory.device().createStream();
        Table table = new TableBuilder().column("x", type, values).buildOnHost(stream, memory)) {
      long first = 0;
      long best = Long.MAX_VALUE;
      long row = Long.MAX_VALUE;
      for (int round = 0; round < ROUNDS; round++) {
        List<Expression> projections = List.of(list.expression(constants).as("found"));
        long start = CLOCK.getCurrentThreadCpuTime();
        Calc calc =
            Calc.of(table.schema(), Optional.empty(), projections, ResolutionContext.DEFAULT);
        calc.program();
        long compiled = CLOCK.getCurrentThreadCpuTime() - start;
        first = round == 0 ? compiled : first;
        best = Math.min(best, compiled);
        row = Math.min(row, nanosOfRun(calc, table, stream) * 10 / ROWS);
      }
      System.out.printf(
          Locale.ROOT,
          "%d %s: resolved and generated in %.1f ms, first in %.1f ms, %.1f ns a row%n",
          count,
          list,
          best / 1e6,
          first / 1e6,
          row / 10.0);
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
