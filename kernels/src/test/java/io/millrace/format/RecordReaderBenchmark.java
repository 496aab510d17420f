// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import java.util.ArrayList;
import java.util.List;
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
 * Reads records of a format into columns: output allocation and the calls from Java included.
 * Reading takes the text of {@code rows} records, in which each line feed ends one unless the
 * subclass finds records otherwise.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public abstract class RecordReaderBenchmark {
  private static final int PIECE_ROWS = 1 << 15;

  @Param({"4096", "16384", "65536", "262144", "1048576"})
  public int rows;

  private DeviceStream stream;
  private MemoryResource memory;
  private RecordReader reader;
  private StagingBuffer pinned;
  private int size;
  private Buffer onDevice;
  private DeviceStream uploadStream;
  private final List<Integer> pieces = new ArrayList<>();
  private final List<Buffer> places = new ArrayList<>();

  /** Makes the reader. */
  protected abstract RecordReader open(DeviceStream readerStream, MemoryResource readerMemory);

  /** The text of some records, each with a line feed behind it and none in it. */
  protected abstract byte[] text(int records);

  /** Finds the records of a text. */
  protected RecordBytes find(Buffer text, DeviceStream textStream, MemoryResource textMemory) {
    return RecordBytes.lines(text, textStream, textMemory);
  }

  /** Makes the records, in pinned memory and on the device. */
  @Setup
  public void create() {
    Device device = Device.current();
    stream = device.createStream();
    uploadStream = device.createStream();
    memory = PerDeviceResource.of(device);
    reader = open(stream, memory);
    byte[] lines = text(rows);
    size = lines.length;
    pinned = device.stagingPool().acquire(size);
    HostMemory.copyFromArray(pinned.address(), lines, 0, size);
    onDevice = Buffer.copyOf(pinned.address(), size, stream, memory);
    stream.synchronize();
    pieces.add(0);
    for (int i = 0, line = 0; i < size; i++) {
      if (lines[i] == '\n' && (++line % PIECE_ROWS == 0 || i + 1 == size)) {
        pieces.add(i + 1);
      }
    }
    int most = 0;
    for (int i = 1; i < pieces.size(); i++) {
      most = Math.max(most, pieces.get(i) - pieces.get(i - 1));
    }
    places.add(Buffer.allocate(most, stream, memory));
    places.add(Buffer.allocate(most, stream, memory));
  }

  /** As {@link #readCopied}, in pieces: one is copied while the piece before is read. */
  @Benchmark
  public int readOverlapped() {
    int read = 0;
    Buffer next = piece(0);
    for (int i = 1; next != null; i++) {
      try (Buffer text = next) {
        next = i + 1 < pieces.size() ? piece(i) : null;
        read += read(text);
      }
    }
    return read;
  }

  // A piece in one of two places of the other stream: a stream that uses the memory of another
  // waits for all work of that one, and the next copy may be among it.
  private Buffer piece(int index) {
    int start = pieces.get(index);
    int bytes = pieces.get(index + 1) - start;
    Buffer place = places.get(index % places.size());
    try (AccessScope scope = AccessScope.on(uploadStream)) {
      uploadStream.copy(place.access(AccessMode.WRITE, scope), pinned.address() + start, bytes);
    }
    return place.slice(0, bytes);
  }

  /** From pinned host memory: copies, finds lines, reads, waits, and frees the table. */
  @Benchmark
  public int readCopied() {
    try (Buffer text = Buffer.copyOf(pinned.address(), size, stream, memory)) {
      return read(text);
    }
  }

  /** From memory of the device. */
  @Benchmark
  public int readOfDevice() {
    return read(onDevice);
  }

  private int read(Buffer text) {
    try (RecordBytes records = find(text, stream, memory);
        ParsedRecords parsed = reader.read(records)) {
      stream.synchronize();
      return parsed.table().rowCount();
    }
  }

  /** Frees the memory. */
  @TearDown
  public void close() {
    onDevice.close();
    pinned.close();
    pieces.clear();
    places.forEach(Buffer::close);
    places.clear();
    reader.close();
    uploadStream.close();
    stream.close();
  }
}
