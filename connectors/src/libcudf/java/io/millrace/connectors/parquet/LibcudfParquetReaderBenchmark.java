// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.HostMemoryBuffer;
import ai.rapids.cudf.ParquetOptions;
import ai.rapids.cudf.Rmm;
import ai.rapids.cudf.RmmAllocationMode;
import ai.rapids.cudf.Table;
import java.io.IOException;
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
 * What libcudf needs to read the files of {@link ParquetReaderBenchmark} into one table, from
 * pinned host memory. It decompresses pages on the GPU.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class LibcudfParquetReaderBenchmark {
  private static final long POOL_BYTES = 20L << 30;

  @Param({"65536", "1048576", "4194304"})
  public int rows;

  @Param public ParquetCompression compression;

  @Param({"true", "false"})
  public boolean dictionary;

  private HostMemoryBuffer pinned;

  /** Writes the file, and fails the benchmark if libcudf reads other values from it than we do. */
  @Setup
  public void create() throws IOException {
    if (!Rmm.isInitialized()) {
      Rmm.initialize(RmmAllocationMode.POOL, null, POOL_BYTES);
    }
    BidFile file = BidFile.write(rows, ParquetReaderBenchmark.options(compression, dictionary));
    pinned = HostMemoryBuffer.allocate(file.bytes().length, true);
    pinned.setBytes(0, file.bytes(), 0, file.bytes().length);
    try (Table table = read()) {
      ReadTableComparison.assertSame(file, rows, table);
    }
  }

  private Table read() {
    return Table.readParquet(ParquetOptions.DEFAULT, pinned, 0, pinned.getLength());
  }

  /** Reads, waits, and frees the table. */
  @Benchmark
  public long readParquet() {
    try (Table table = read()) {
      Cuda.DEFAULT_STREAM.sync();
      return table.getRowCount();
    }
  }

  /** Frees the file. */
  @TearDown
  public void close() {
    pinned.close();
  }
}
