// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.HostColumnVector;
import ai.rapids.cudf.OutOfBoundsPolicy;
import ai.rapids.cudf.Table;
import io.millrace.column.ColumnReader;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.kernel.gather.StringGatherBenchmark;
import io.millrace.kernel.partition.StringsInput;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The counterpart of {@link StringGatherBenchmark} in libcudf. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class LibcudfStringGatherBenchmark {
  /** Fails the benchmark if the two libraries give different strings. */
  @Setup
  public void compare(StringsInput input, LibcudfStringsInput libcudf) {
    try (io.millrace.column.Table ours = StringGatherBenchmark.gathered(input);
        DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        io.millrace.column.Table host =
            ours.copyTo(HostMemoryResource.INSTANCE, hostStream, input.stream);
        Table theirs = gathered(libcudf);
        HostColumnVector theirTexts = theirs.getColumn(0).copyToHost();
        AccessScope scope = AccessScope.on(hostStream)) {
      input.stream.synchronize();
      assertSame(new ColumnReader(host.column(0), scope), theirTexts);
    }
  }

  private static void assertSame(ColumnReader ours, HostColumnVector theirs) {
    long offsets = theirs.getOffsets().getAddress();
    IntStream.rangeClosed(0, ours.size())
        .parallel()
        .forEach(
            row -> {
              int offset = HostMemory.getInt(offsets + (long) row * Integer.BYTES);
              if (ours.getOffset(row) != offset) {
                throw difference(row, ours.getOffset(row), offset);
              }
            });
    if (ours.size() == 0) {
      return;
    }
    long ourBytes = ours.getBytesAddress(0);
    long theirBytes = theirs.getData().getAddress();
    IntStream.range(0, ours.getOffset(ours.size()))
        .parallel()
        .forEach(
            at -> {
              if (HostMemory.getByte(ourBytes + at) != HostMemory.getByte(theirBytes + at)) {
                throw new IllegalStateException("byte " + at + " differs from libcudf's");
              }
            });
  }

  private static IllegalStateException difference(int row, int ours, int theirs) {
    return new IllegalStateException(
        "the offset of row " + row + " is " + ours + ", and libcudf's is " + theirs);
  }

  /** Gathers, waits, and frees the output. */
  @Benchmark
  public int gather(LibcudfStringsInput libcudf) {
    try (Table output = gathered(libcudf)) {
      Cuda.DEFAULT_STREAM.sync();
      return (int) output.getRowCount();
    }
  }

  private static Table gathered(LibcudfStringsInput libcudf) {
    return libcudf.texts.gather(libcudf.map, OutOfBoundsPolicy.DONT_CHECK);
  }
}
