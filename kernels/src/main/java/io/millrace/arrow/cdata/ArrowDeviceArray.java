// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.HostMemory;
import org.apache.arrow.c.ArrowArray;

/**
 * The struct ArrowDeviceArray of the Arrow C device data interface, in native memory: an ArrowArray
 * and where its buffers are. Used by one thread at a time.
 *
 * @see <a href="https://arrow.apache.org/docs/format/CDeviceDataInterface.html">The C device data
 *     interface</a>
 */
@PublicEvolving
public final class ArrowDeviceArray implements AutoCloseable {
  /** Bytes of the struct. */
  public static final int STRUCT_BYTES = 128;

  private static final int DEVICE_ID = 80;
  private static final int DEVICE_TYPE = 88;
  private static final int SYNC_EVENT = 96;

  private final boolean isOwner;
  private long address;

  private ArrowDeviceArray(long address, boolean isOwner) {
    this.address = address;
    this.isOwner = isOwner;
  }

  /** A new struct, marked released, that {@link #close} frees. */
  public static ArrowDeviceArray allocate() {
    long address = HostMemory.allocate(STRUCT_BYTES);
    HostMemory.fill(address, STRUCT_BYTES, (byte) 0);
    return new ArrowDeviceArray(address, true);
  }

  /**
   * The struct at {@code address}, which stays its owner's: {@link #close} neither frees nor
   * releases it.
   */
  public static ArrowDeviceArray wrap(long address) {
    return new ArrowDeviceArray(address, false);
  }

  /** The address of the struct. */
  public long address() {
    if (address == 0) {
      throw new IllegalStateException("the ArrowDeviceArray is closed");
    }
    return address;
  }

  /** The array, which is the struct's first member. */
  public ArrowArray array() {
    return ArrowArray.wrap(address());
  }

  /** The index of the device of its type; -1 if there is only one. */
  public long deviceId() {
    return HostMemory.getLong(address() + DEVICE_ID);
  }

  /** The number of an {@link ArrowDeviceType} or of a type that is not known here. */
  public int deviceType() {
    return HostMemory.getInt(address() + DEVICE_TYPE);
  }

  /**
   * The address of the event behind which the buffers are valid, for CUDA a pointer to a {@code
   * CUevent}; 0 if they are valid now.
   */
  public long syncEvent() {
    return HostMemory.getLong(address() + SYNC_EVENT);
  }

  /** Sets all members except the array. */
  void putDevice(ArrowDeviceType type, long deviceId, long syncEvent) {
    HostMemory.putLong(address() + DEVICE_ID, deviceId);
    HostMemory.putInt(address() + DEVICE_TYPE, type.code());
    HostMemory.putLong(address() + SYNC_EVENT, syncEvent);
  }

  /** Whether there is nothing to release, any more or yet. */
  public boolean isReleased() {
    return new CArray(address()).isReleased();
  }

  /**
   * Calls the producer's release callback, after which the buffers must not be used. The caller has
   * waited for work that uses them. Does nothing if that has happened already.
   */
  public void release() {
    if (!isReleased()) {
      array().release();
    }
  }

  /**
   * Moves the struct to {@code target}, which must be released instead; this struct is marked
   * released.
   *
   * @param target {@value #STRUCT_BYTES} bytes of native memory that hold no array
   */
  public void moveTo(long target) {
    HostMemory.copy(target, address(), STRUCT_BYTES);
    new CArray(address).markReleased();
  }

  /** Releases the array, unless that is done, and frees the struct. Closing twice does nothing. */
  @Override
  public void close() {
    if (!isOwner || address == 0) {
      return;
    }
    release();
    HostMemory.free(address);
    address = 0;
  }
}
