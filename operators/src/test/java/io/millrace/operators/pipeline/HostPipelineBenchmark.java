// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.pipeline;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * The {@link HostPipeline} against the bound that its bytes give: the longer of the times that
 * bytes in and bytes out take at the rates of plain pinned copies both ways at once, measured in
 * turn with it. Prints medians over rounds, and what one batch alone takes from its vectors to the
 * result's, as a table in Markdown.
 *
 * <p>The bar: at least {@value #BAR_PERCENT} % of the bound from {@value #BAR_ROWS} rows on.
 */
public final class HostPipelineBenchmark {
  private static final List<Integer> ROWS =
      List.of(1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20);
  private static final int BATCHES_IN_FLIGHT = 2;
  private static final int INPUTS = 4;
  private static final int ROUNDS = 7;
  private static final int ROWS_OF_ROUND = 1 << 26;
  private static final int MAX_BATCHES = 1024;
  private static final int LATENCIES = 500;
  private static final int WARM_UP_BATCHES = 200;
  private static final long COPY_BYTES = 32L << 20;
  private static final int COPIES = 16;
  private static final int BAR_PERCENT = 80;
  private static final int BAR_ROWS = 1 << 20;

  private final Device device;
  private final HostPipeline pipeline;

  private HostPipelineBenchmark(Device device, HostPipeline pipeline) {
    this.device = device;
    this.pipeline = pipeline;
  }

  /** Runs the benchmark. The arguments are numbers of rows, the usual ones if there are none. */
  public static void main(String[] arguments) throws ArrowFormatException {
    List<Integer> rows =
        arguments.length == 0 ? ROWS : Stream.of(arguments).map(Integer::valueOf).toList();
    Device device = Device.current();
    try (HostPipeline pipeline = new HostPipeline(device, BATCHES_IN_FLIGHT)) {
      new HostPipelineBenchmark(device, pipeline).printTable(rows);
    }
  }

  private void printTable(List<Integer> allRows) throws ArrowFormatException {
    System.out.println(
        "| rows | bytes in | bytes out | in, both ways (GB/s) | out, both ways (GB/s) | bound (us) |"
            + " pipeline (us) | of the bound | bar | alone, p50 (us) | alone, p99 (us) |");
    System.out.println("|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|");
    for (int rows : allRows) {
      List<VectorSchemaRoot> inputs =
          IntStream.range(0, INPUTS).mapToObj(i -> pipeline.createInput(rows)).toList();
      printLine(rows, inputs);
      inputs.forEach(VectorSchemaRoot::close);
    }
  }

  private void printLine(int rows, List<VectorSchemaRoot> inputs) throws ArrowFormatException {
    pipeline.run(inputs, WARM_UP_BATCHES);
    int batches = Math.min(MAX_BATCHES, ROWS_OF_ROUND / rows);
    long rowsBefore = pipeline.rowsOut();
    long bytesBefore = pipeline.bytesOut();
    double[] in = new double[ROUNDS];
    double[] out = new double[ROUNDS];
    double[] micros = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      Rates rates = rates();
      in[round] = rates.in();
      out[round] = rates.out();
      long start = System.nanoTime();
      pipeline.run(inputs, batches);
      micros[round] = (System.nanoTime() - start) / 1e3 / batches;
    }
    long measured = (long) ROUNDS * batches;
    check(pipeline.rowsOut() - rowsBefore, measured * HostPipeline.rowsOut(rows));
    long bytesIn = rows * HostPipeline.BYTES_PER_ROW;
    long bytesOut = (pipeline.bytesOut() - bytesBefore) / measured;
    double bound = Math.max(bytesIn / median(in), bytesOut / median(out)) / 1e3;
    double percent = 100 * bound / median(micros);
    double[] alone = latencies(inputs);
    System.out.printf(
        Locale.ROOT,
        "| %d | %d | %d | %.1f | %.1f | %.1f | %.1f | %.0f %% | %s | %.1f | %.1f |%n",
        rows,
        bytesIn,
        bytesOut,
        median(in),
        median(out),
        bound,
        median(micros),
        percent,
        rows < BAR_ROWS ? "" : percent >= BAR_PERCENT ? "holds" : "missed",
        percentile(alone, 50),
        percentile(alone, 99));
  }

  private static void check(long rows, long expected) {
    if (rows != expected) {
      throw new IllegalStateException(rows + " rows left, not " + expected);
    }
  }

  /** The microseconds that each batch takes while no other is in flight. */
  private double[] latencies(List<VectorSchemaRoot> inputs) throws ArrowFormatException {
    double[] micros = new double[LATENCIES];
    for (int i = 0; i < LATENCIES; i++) {
      long start = System.nanoTime();
      pipeline.run(inputs.subList(i % INPUTS, i % INPUTS + 1), 1);
      micros[i] = (System.nanoTime() - start) / 1e3;
    }
    return micros;
  }

  /** In bytes a nanosecond, which are gigabytes a second. */
  private record Rates(double in, double out) {}

  /** The rates of plain copies of pinned memory both ways at once. */
  private Rates rates() {
    DeviceStream in = pipeline.context().uploadStream();
    DeviceStream out = pipeline.context().downloadStream();
    MemoryResource memory = pipeline.context().resource();
    try (StagingBuffer source = device.stagingPool().acquire(COPY_BYTES);
        StagingBuffer target = device.stagingPool().acquire(COPY_BYTES);
        Buffer uploaded = Buffer.allocate(COPY_BYTES, in, memory);
        Buffer downloaded = Buffer.allocate(COPY_BYTES, out, memory);
        AccessScope inScope = AccessScope.on(in);
        AccessScope outScope = AccessScope.on(out)) {
      long inAddress = uploaded.access(AccessMode.WRITE, inScope);
      long outAddress = downloaded.access(AccessMode.READ, outScope);
      in.synchronize();
      out.synchronize();
      long start = System.nanoTime();
      for (int i = 0; i < COPIES; i++) {
        in.copy(inAddress, source.address(), COPY_BYTES);
        out.copy(target.address(), outAddress, COPY_BYTES);
      }
      in.synchronize();
      long inNanos = System.nanoTime() - start;
      out.synchronize();
      long outNanos = System.nanoTime() - start;
      double bytes = (double) COPIES * COPY_BYTES;
      return new Rates(bytes / inNanos, bytes / outNanos);
    }
  }

  private static double median(double[] values) {
    return percentile(values, 50);
  }

  private static double percentile(double[] values, int percent) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)];
  }
}
