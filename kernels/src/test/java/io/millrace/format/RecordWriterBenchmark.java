// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.format.json.JsonBidLines;
import io.millrace.format.json.JsonReader;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
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
 * Writes bids as records of a format from columns on the device: output allocation and the calls
 * from Java included.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public abstract class RecordWriterBenchmark {
  @Param({"4096", "16384", "65536", "262144", "1048576"})
  public int rows;

  private DeviceStream stream;
  private RecordWriter writer;
  private Table bids;
  private StagingBuffer pinned;

  /** Makes the writer. */
  protected abstract RecordWriter open(DeviceStream writerStream, MemoryResource writerMemory);

  /** Makes the columns on the device, and pinned memory for their records. */
  @Setup
  public void create() {
    Device device = Device.current();
    stream = device.createStream();
    MemoryResource memory = PerDeviceResource.of(device);
    writer = open(stream, memory);
    byte[] lines = JsonBidLines.lines(rows);
    pinned = device.stagingPool().acquire(lines.length);
    HostMemory.copyFromArray(pinned.address(), lines, 0, lines.length);
    try (Buffer text = Buffer.copyOf(pinned.address(), lines.length, stream, memory);
        RecordBytes records = RecordBytes.lines(text, stream, memory);
        JsonReader reader = new JsonReader(JsonBidLines.SCHEMA, stream, memory);
        ParsedRecords parsed = reader.read(records)) {
      stream.synchronize();
      bids = parsed.table().share();
    }
  }

  /** To memory of the device: writes, waits, and frees the records. */
  @Benchmark
  public long write() {
    try (RecordBytes records = writer.write(bids)) {
      stream.synchronize();
      return records.bytes().size();
    }
  }

  /** As {@link #write}, and copies the records to pinned host memory. */
  @Benchmark
  public long writeToHost() {
    try (RecordBytes records = writer.write(bids);
        AccessScope scope = AccessScope.on(stream)) {
      Buffer bytes = records.bytes();
      stream.copy(pinned.address(), bytes.access(AccessMode.READ, scope), bytes.size());
      stream.synchronize();
      return bytes.size();
    }
  }

  /** Frees the memory. */
  @TearDown
  public void close() {
    bids.close();
    writer.close();
    pinned.close();
    stream.close();
  }
}
