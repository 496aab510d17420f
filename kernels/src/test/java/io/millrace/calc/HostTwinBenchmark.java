// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.col;

import com.sun.management.ThreadMXBean;
import io.millrace.column.Column;
import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionAssigner;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.kernel.partition.RoundRobinPartition;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;

/**
 * Performance on the host device with one thread. Prints nanoseconds and heap bytes per row, or per
 * call for tables of one row. The time is the 10th percentile of the calls within {@code seconds}
 * (the first argument, default 2).
 */
public final class HostTwinBenchmark {
  private static final int ROWS = 1 << 16;
  private static final Schema NUMBERS =
      Schema.of(new Field("a", DataType.INT64, false), new Field("b", DataType.INT64, false));
  private static final Schema TEXTS =
      Schema.of(new Field("a", DataType.STRING, false), new Field("b", DataType.INT64, false));
  private static final MemoryResource MEMORY = HostMemoryResource.INSTANCE;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final PartitionAssigner SUBTASKS = PartitionAssigner.subtasks(128, 8);

  private final DeviceStream stream;
  private final long nanos;

  private HostTwinBenchmark(DeviceStream stream, long nanos) {
    this.stream = stream;
    this.nanos = nanos;
  }

  public static void main(String[] arguments) {
    double seconds = arguments.length == 0 ? 2 : Double.parseDouble(arguments[0]);
    System.out.println("| what | ns | heap bytes |");
    System.out.println("|---|---:|---:|");
    try (DeviceStream stream = HostDevice.INSTANCE.createStream()) {
      HostTwinBenchmark benchmark = new HostTwinBenchmark(stream, (long) (seconds * 1e9));
      benchmark.partition();
      benchmark.calcs();
    }
  }

  /** Two columns of random BIGINTs. */
  static Table numbers(int rows, DeviceStream stream, MemoryResource memory) {
    return new Table(
        NUMBERS, List.of(longs(rows, stream, memory), longs(rows, stream, memory)), rows);
  }

  /** A column of strings of 8 to 16 bytes and a column of random BIGINTs. */
  static Table texts(int rows, DeviceStream stream, MemoryResource memory) {
    return new Table(
        TEXTS, List.of(strings(rows, stream, memory), longs(rows, stream, memory)), rows);
  }

  private static Column longs(int rows, DeviceStream stream, MemoryResource memory) {
    Random random = new Random(7);
    try (ColumnBuilder builder = ColumnBuilder.of(DataType.INT64, stream, memory)) {
      for (int row = 0; row < rows; row++) {
        ((FixedWidthColumnBuilder) builder).appendLong(random.nextLong());
      }
      return builder.finish();
    }
  }

  private static Column strings(int rows, DeviceStream stream, MemoryResource memory) {
    Random random = new Random(7);
    try (ColumnBuilder builder = ColumnBuilder.of(DataType.STRING, stream, memory)) {
      for (int row = 0; row < rows; row++) {
        String text = "customer" + random.nextInt(100_000_000);
        ((VariableWidthColumnBuilder) builder)
            .appendBytes(
                text.getBytes(StandardCharsets.UTF_8), 0, 8 + row % 9 % (text.length() - 7));
      }
      return builder.finish();
    }
  }

  private void partition() {
    try (Table numbers = numbers(ROWS, stream, MEMORY);
        Table texts = texts(ROWS, stream, MEMORY)) {
      hash("MURMUR3_32, BIGINT", numbers, PartitionAssigner.modulo(8), HashFunction.MURMUR3_32);
      hash("FLINK_JAVA, BIGINT", numbers, SUBTASKS, HashFunction.FLINK_JAVA);
      hash("FLINK_BINARY_ROW, BIGINT", numbers, SUBTASKS, HashFunction.FLINK_BINARY_ROW);
      hash("FLINK_JAVA, STRING", texts, SUBTASKS, HashFunction.FLINK_JAVA);
      hash("FLINK_BINARY_ROW, STRING", texts, SUBTASKS, HashFunction.FLINK_BINARY_ROW);
      measure(
          "round robin",
          ROWS,
          () -> RoundRobinPartition.roundRobinPartition(numbers, 8, 0, stream, MEMORY));
    }
  }

  private void hash(String name, Table table, PartitionAssigner numbering, HashFunction function) {
    measure("hash partition, " + name, ROWS, () -> partition(table, numbering, function));
  }

  private PartitionedTable partition(
      Table table, PartitionAssigner numbering, HashFunction function) {
    return HashPartition.hashPartition(table, List.of(0), numbering, function, stream, MEMORY);
  }

  private void calcs() {
    try (Table rows = numbers(ROWS, stream, MEMORY);
        Table row = rows.slice(17, 1);
        Calc filter = filter();
        Calc projections = thirtyProjections()) {
      measure("filter and two projections", ROWS, () -> filter.apply(rows, stream, MEMORY));
      measure("30 projections", ROWS, () -> projections.apply(rows, stream, MEMORY));
      measure(
          "30 projections, a call for one row", 1, () -> projections.apply(row, stream, MEMORY));
    }
  }

  private static Calc filter() {
    return calc(
        Optional.of(col("a").gt(0)),
        List.of(col("a").plus(col("b")).as("sum"), col("b").times(3).as("product")));
  }

  /** A calc of 30 projections of two BIGINT columns. */
  static Calc thirtyProjections() {
    List<Expression> projections = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      projections.add(col("a").plus(col("b").times(i + 2)).minus(i).as("p" + i));
    }
    return calc(Optional.empty(), projections);
  }

  private static Calc calc(Optional<Expression> condition, List<Expression> projections) {
    return Calc.of(NUMBERS, condition, projections, ResolutionContext.DEFAULT);
  }

  private static void closed(Supplier<? extends AutoCloseable> call) {
    try (AutoCloseable output = call.get()) {
      if (output == null) {
        throw new IllegalStateException("there is no result");
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private void measure(String name, int rows, Supplier<? extends AutoCloseable> call) {
    List<Long> times = new ArrayList<>();
    long end = System.nanoTime() + 2 * nanos;
    long warm = end - nanos;
    long garbage = 0;
    while (System.nanoTime() < end) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      long start = System.nanoTime();
      closed(call);
      long time = System.nanoTime() - start;
      if (start > warm) {
        times.add(time);
        garbage = THREADS.getCurrentThreadAllocatedBytes() - before;
      }
    }
    times.sort(null);
    System.out.printf(
        Locale.ROOT,
        "| %s | %.1f | %.2f |%n",
        name,
        (double) times.get(times.size() / 10) / rows,
        (double) garbage / rows);
  }
}
