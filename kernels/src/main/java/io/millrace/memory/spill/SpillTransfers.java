// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.SpillTier;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The copies between a device, the host and disk, on a stream for each direction. A copy is done
 * when its method returns.
 */
final class SpillTransfers implements AutoCloseable {
  // Large enough for the full bandwidth, small enough for one chunk per thread.
  private static final long CHUNK_BYTES = 4L << 20;

  private final Device device;
  private final LongSupplier nanoClock;
  private final DeviceStream spillStream;
  private final DeviceStream unspillStream;
  private final ReentrantLock unspilling = new ReentrantLock();

  SpillTransfers(Device device, LongSupplier nanoClock) {
    this.device = device;
    this.nanoClock = nanoClock;
    this.spillStream = device.createStream();
    this.unspillStream = device.createStream();
  }

  long nanoTime() {
    return nanoClock.getAsLong();
  }

  /** The stream of copies off the device; used by the thread that spills. */
  DeviceStream spillStream() {
    return spillStream;
  }

  /** The stream of copies back to the device. */
  DeviceStream unspillStream() {
    return unspillStream;
  }

  /** Copies host memory to the device. */
  void hostToDevice(long hostAddress, long deviceAddress, long bytes) {
    unspilling.lock();
    try {
      unspillStream.copy(deviceAddress, hostAddress, bytes);
      unspillStream.synchronize();
    } finally {
      unspilling.unlock();
    }
  }

  /** Reads a region of {@code file} into device memory that was allocated on the unspill stream. */
  void diskToDevice(SpillFile file, SpillFile.Region region, long deviceAddress, long bytes) {
    unspilling.lock();
    try {
      // The memory may have been in use by another stream before.
      unspillStream.synchronize();
      readFromDisk(file, region, deviceAddress, bytes);
    } finally {
      unspilling.unlock();
    }
  }

  private void readFromDisk(SpillFile file, SpillFile.Region region, long address, long size) {
    if (device.isHostAccessible()) {
      file.read(region, address);
      return;
    }
    try (StagingBuffer chunk = device.stagingPool().acquire(Math.min(size, CHUNK_BYTES))) {
      SpillFile.Reader reader = file.reader(region);
      for (long done = 0; done < size; ) {
        long bytes = Math.min(chunk.capacity(), size - done);
        reader.read(chunk.address(), bytes);
        unspillStream.copy(address + done, chunk.address(), bytes);
        unspillStream.synchronize();
        done += bytes;
      }
    }
  }

  /** Writes memory of the device, once the spill stream's work is done, or of the host to disk. */
  SpillFile.Region toDisk(SpillFile file, SpillTier from, long address, long size) {
    if (from == SpillTier.HOST || device.isHostAccessible()) {
      return file.write(address, size);
    }
    try (StagingBuffer chunk = device.stagingPool().acquire(Math.min(size, CHUNK_BYTES));
        SpillFile.Writer writer = file.writer(size)) {
      for (long done = 0; done < size; ) {
        long bytes = Math.min(chunk.capacity(), size - done);
        spillStream.copy(chunk.address(), address + done, bytes);
        spillStream.synchronize();
        writer.append(chunk.address(), bytes);
        done += bytes;
      }
      return writer.finish();
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(spillStream::close);
    failure.run(unspillStream::close);
    failure.rethrow();
  }
}
