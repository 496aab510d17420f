// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.device.DeviceStream;
import io.millrace.device.StagingBuffer;
import io.millrace.format.text.FloatingPoint;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;

/**
 * Records of a format, or the elements of lists in them: their fields, and what kernels are told of
 * them. Used by one thread; closed once, with the levels of the lists in it.
 */
final class RecordLevel implements AutoCloseable {
  private final RecordFields fields;
  private final RecordFormat format;
  private final RecordKernels kernels;
  private final DeviceStream stream;
  private final MemoryResource memory;
  // By field; null where a field has no elements that are read.
  private final RecordLevel[] elements;
  private Buffer plan;

  RecordLevel(
      RecordFields fields,
      RecordFormat format,
      RecordKernels kernels,
      DeviceStream stream,
      MemoryResource memory) {
    this.fields = fields;
    this.format = format;
    this.kernels = kernels;
    this.stream = stream;
    this.memory = memory;
    this.elements = new RecordLevel[fields.size()];
    for (int i = 0; i < elements.length; i++) {
      RecordFields inside = fields.get(i).elements();
      if (inside != null) {
        elements[i] = new RecordLevel(inside, format.elements(i), kernels, stream, memory);
      }
    }
  }

  RecordFields fields() {
    return fields;
  }

  RecordFormat format() {
    return format;
  }

  RecordKernels kernels() {
    return kernels;
  }

  DeviceStream stream() {
    return stream;
  }

  MemoryResource memory() {
    return memory;
  }

  /** The level of a field's elements; null if none are read. */
  RecordLevel elements(int field) {
    return elements[field];
  }

  /** Bytes of the powers of five in front of the fields. */
  static long powersBytes() {
    return (long) FloatingPoint.powersOfFiveWords() * Long.BYTES;
  }

  /** The powers of five, the fields and what the format writes behind them. */
  Buffer plan() {
    if (plan == null) {
      long bytes = powersBytes() + fields.bytes() + format.bytes();
      try (StagingBuffer staged = stream.device().stagingPool().acquire(bytes)) {
        FloatingPoint.writePowersOfFive(staged.address());
        long address = staged.address() + powersBytes();
        fields.write(address);
        format.write(address, address + fields.bytes());
        plan = Buffer.copyOf(staged.address(), bytes, stream, memory);
        stream.synchronize();
      }
    }
    return plan;
  }

  @Override
  public void close() {
    for (RecordLevel level : elements) {
      if (level != null) {
        level.close();
      }
    }
    if (plan != null) {
      plan.close();
      plan = null;
    }
  }
}
