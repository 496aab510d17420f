// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.annotation.Internal;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordWriter;
import io.millrace.format.write.WriteKernels.Rows;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;

/** Writes rows as records by a plan, on the device of its stream. Used by one thread. */
@Internal
public final class PlanWriter implements RecordWriter {
  private final WritePlan plan;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final WriteKernels kernels;

  // The plan for kernels, behind the powers of ten. null before it is needed.
  private Buffer uploaded;

  /**
   * @param stream of the tables and records; stays open as long as the writer
   * @param memory of the records
   */
  public PlanWriter(WritePlan plan, DeviceStream stream, MemoryResource memory) {
    this.plan = plan;
    this.stream = stream;
    this.memory = memory;
    this.kernels = WriteKernels.KERNELS.of(stream.device());
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException if the table has another schema
   * @throws GpuOutOfMemoryException also if there are more than 2^31 - 16 bytes or 2^30 records
   */
  @Override
  public RecordBytes write(Table table) {
    if (!table.schema().equals(plan.schema())) {
      throw new IllegalArgumentException(
          "expected rows of " + plan.schema() + ", got " + table.schema());
    }
    int count = table.rowCount();
    checkLimit("records", count, RecordBytes.MAX_RECORDS);
    Buffer positions = Buffer.allocate((count + 1L) * Integer.BYTES, stream, memory);
    try {
      Buffer bytes = write(table, count, positions);
      return new RecordBytes(bytes, positions, count);
    } catch (RuntimeException | Error e) {
      positions.close();
      throw e;
    }
  }

  private Buffer write(Table table, int count, Buffer positions) {
    long columnBytes = (long) plan.columns() * WriteColumns.Layout.LAYOUT.bytes();
    try (AccessScope scope = AccessScope.on(stream)) {
      long positionsAddress = positions.access(AccessMode.WRITE, scope);
      if (count == 0) {
        stream.fill(positionsAddress, (byte) 0, Integer.BYTES);
        return Buffer.allocate(0, stream, memory);
      }
      long powers = uploaded().access(AccessMode.READ, scope);
      try (StagingBuffer staged = stream.device().stagingPool().acquire(Long.BYTES + columnBytes);
          Buffer scratch =
              Buffer.allocate(columnBytes + kernels.scratchBytes(count), stream, memory)) {
        long columns = scratch.size() == 0 ? 0 : scratch.access(AccessMode.WRITE, scope);
        WriteColumns.write(table, scope, staged.address() + Long.BYTES);
        stream.copy(columns, staged.address() + Long.BYTES, columnBytes);
        return write(
            new Rows(
                plan,
                powers + FloatWriter.powerBytes(),
                powers,
                columns,
                count,
                positionsAddress,
                columns + columnBytes,
                staged.address(),
                stream));
      }
    }
  }

  private Buffer write(Rows rows) {
    kernels.measure(rows);
    long size = HostMemory.getLong(rows.result());
    checkLimit("bytes of records", size, RecordBytes.MAX_BYTES);
    try (Buffer bytes = Buffer.allocate(size + WriteKernels.MAX_BYTES_BEHIND, stream, memory);
        AccessScope scope = AccessScope.on(stream)) {
      kernels.write(rows, bytes.access(AccessMode.WRITE, scope));
      return bytes.slice(0, size);
    }
  }

  private static void checkLimit(String what, long count, int limit) {
    if (count > limit) {
      throw new GpuOutOfMemoryException(
          "expected at most " + limit + " " + what + " at once, got " + count);
    }
  }

  private Buffer uploaded() {
    if (uploaded == null) {
      long bytes = (long) FloatWriter.powerBytes() + plan.bytes();
      try (StagingBuffer staged = stream.device().stagingPool().acquire(bytes)) {
        FloatWriter.writePowers(staged.address());
        plan.write(staged.address() + FloatWriter.powerBytes());
        uploaded = Buffer.copyOf(staged.address(), bytes, stream, memory);
        stream.synchronize();
      }
    }
    return uploaded;
  }

  /** Frees what the writer keeps for further tables. */
  @Override
  public void close() {
    if (uploaded != null) {
      uploaded.close();
      uploaded = null;
    }
  }
}
