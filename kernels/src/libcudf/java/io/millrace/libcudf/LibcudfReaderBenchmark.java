// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.DType;
import ai.rapids.cudf.HostMemoryBuffer;
import ai.rapids.cudf.Rmm;
import ai.rapids.cudf.RmmAllocationMode;
import ai.rapids.cudf.Schema;
import ai.rapids.cudf.Table;
import java.util.concurrent.TimeUnit;
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
 * What libcudf needs to read the same lines as {@link io.millrace.format.RecordReaderBenchmark},
 * from pinned host memory. Timestamps are left as strings.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public abstract class LibcudfReaderBenchmark {
  private static final long POOL_BYTES = 20L << 30;
  protected static final Schema SCHEMA =
      Schema.builder()
          .column(DType.INT64, "auction")
          .column(DType.INT64, "bidder")
          .column(DType.INT64, "price")
          .column(DType.STRING, "channel")
          .column(DType.STRING, "url")
          .column(DType.STRING, "dateTime")
          .column(DType.STRING, "extra")
          .build();

  @Param({"4096", "16384", "65536", "262144", "1048576"})
  public int rows;

  private HostMemoryBuffer lines;

  /** Makes the lines. */
  @Setup
  public void create() {
    if (!Rmm.isInitialized()) {
      Rmm.initialize(RmmAllocationMode.POOL, null, POOL_BYTES);
    }
    byte[] bytes = text(rows);
    lines = HostMemoryBuffer.allocate(bytes.length, true);
    lines.setBytes(0, bytes, 0, bytes.length);
  }

  /** The text of some bids, each with a line feed behind it. */
  protected abstract byte[] text(int records);

  /** Reads the text; the caller frees the table. */
  protected abstract Table read(HostMemoryBuffer text);

  /** Reads, waits, and frees the table. */
  protected long readAndWait() {
    try (Table table = read(lines)) {
      Cuda.DEFAULT_STREAM.sync();
      return table.getRowCount();
    }
  }

  /** Frees the lines. */
  @TearDown
  public void close() {
    lines.close();
  }
}
