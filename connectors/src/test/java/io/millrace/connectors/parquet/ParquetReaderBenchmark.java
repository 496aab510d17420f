// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.operators.context.DeviceContext;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Reads a Parquet file of bids, which is in memory of the Java heap, into columns of the device:
 * footers are read before, the copy of the column chunks, decompression and decoding count.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class ParquetReaderBenchmark {
  private static final int SUBTASKS = 8;

  @Param({"65536", "1048576", "4194304"})
  public int rows;

  @Param public ParquetCompression compression;

  @Param({"true", "false"})
  public boolean dictionary;

  private final List<DeviceContext> contexts = new ArrayList<>();
  private ExecutorService threads;
  private BidFile file;

  /** Writes the file. */
  @Setup
  public void create() throws IOException {
    file = BidFile.write(rows, options(compression, dictionary));
    for (int i = 0; i < SUBTASKS; i++) {
      contexts.add(DeviceContext.open(Device.current()));
    }
    threads = Executors.newFixedThreadPool(SUBTASKS);
  }

  static ParquetWriterOptions options(ParquetCompression compression, boolean dictionary) {
    return ParquetWriterOptions.DEFAULT.withCompression(compression).withDictionary(dictionary);
  }

  /** By one thread, as by one subtask; waits, and frees the tables. */
  @Benchmark
  public int readParquet() throws IOException {
    return read(contexts.get(0), 0, 1);
  }

  /** By as many threads as there are row groups, eight at most, as by that many subtasks. */
  @Benchmark
  public int readParquetSideBySide() throws InterruptedException, ExecutionException {
    List<Future<Integer>> subtasks = new ArrayList<>();
    for (int i = 0; i < SUBTASKS; i++) {
      int first = i;
      subtasks.add(threads.submit(() -> read(contexts.get(first), first, SUBTASKS)));
    }
    int read = 0;
    for (Future<Integer> subtask : subtasks) {
      read += subtask.get();
    }
    return read;
  }

  private int read(DeviceContext context, int first, int step) throws IOException {
    List<Table> tables = new ArrayList<>();
    try {
      for (int i = first; i < file.rowGroups(); i += step) {
        tables.add(file.read(i, context));
      }
      context.stream().synchronize();
      return tables.stream().mapToInt(Table::rowCount).sum();
    } finally {
      tables.forEach(Table::close);
    }
  }

  /** Ends the threads and frees the memory. */
  @TearDown
  public void close() {
    threads.shutdown();
    contexts.forEach(DeviceContext::close);
    contexts.clear();
  }
}
