// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.format.BidLines;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
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
 * Reads bids, datums of Avro that {@link AvroWriter} wrote, into columns: output allocation and the
 * calls from Java included. The positions of the records are known, as those of a topic are.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class AvroReaderBenchmark {
  @Param({"4096", "16384", "65536", "262144", "1048576"})
  public int rows;

  private DeviceStream stream;
  private MemoryResource memory;
  private AvroReader reader;
  private RecordBytes onDevice;
  private StagingBuffer bytes;
  private StagingBuffer positions;

  /** Makes the records, in pinned memory and on the device. */
  @Setup
  public void create() {
    Device device = Device.current();
    stream = device.createStream();
    memory = PerDeviceResource.of(device);
    AvroType type = ReferenceAvro.type(BidLines.SCHEMA.fields());
    reader = new AvroReader(BidLines.SCHEMA, type, stream, memory);
    byte[] lines = JsonBidLines.lines(rows);
    try (StagingBuffer json = device.stagingPool().acquire(lines.length)) {
      HostMemory.copyFromArray(json.address(), lines, 0, lines.length);
      try (Buffer text = Buffer.copyOf(json.address(), lines.length, stream, memory);
          RecordBytes records = RecordBytes.lines(text, stream, memory);
          JsonReader jsonReader = new JsonReader(BidLines.SCHEMA, stream, memory);
          ParsedRecords bids = jsonReader.read(records);
          AvroWriter writer = new AvroWriter(BidLines.SCHEMA, stream, memory)) {
        onDevice = writer.write(bids.table());
        stream.synchronize();
      }
    }
    bytes = pinned(onDevice.bytes());
    positions = pinned(onDevice.positions());
  }

  private StagingBuffer pinned(Buffer buffer) {
    StagingBuffer copy = stream.device().stagingPool().acquire(buffer.size());
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.copy(copy.address(), buffer.access(AccessMode.READ, scope), buffer.size());
    }
    stream.synchronize();
    return copy;
  }

  /** From pinned host memory: copies, reads, waits, and frees the table. */
  @Benchmark
  public int readCopied() {
    try (RecordBytes records =
        new RecordBytes(
            Buffer.copyOf(bytes.address(), onDevice.bytes().size(), stream, memory),
            Buffer.copyOf(positions.address(), onDevice.positions().size(), stream, memory),
            rows)) {
      return read(records);
    }
  }

  /** From memory of the device. */
  @Benchmark
  public int readOfDevice() {
    return read(onDevice);
  }

  private int read(RecordBytes records) {
    try (ParsedRecords parsed = reader.read(records)) {
      stream.synchronize();
      return parsed.table().rowCount();
    }
  }

  /** Frees the memory. */
  @TearDown
  public void close() {
    onDevice.close();
    bytes.close();
    positions.close();
    reader.close();
    stream.close();
  }
}
