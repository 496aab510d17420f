// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import java.util.List;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;

/** Batches of the state benchmarks: a BIGINT key and a BIGINT value. */
public final class StateInputRows {
  /** The columns. */
  public static final Schema SCHEMA =
      Schema.of(new Field("key", DataType.INT64, false), new Field("value", DataType.INT64, false));

  private StateInputRows() {}

  /** A bijection, so that keys are spread over all numbers: the finalizer of SplitMix64. */
  public static long key(long number) {
    long mixed = (number ^ (number >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }

  /**
   * One of the keys that have the same hash in the index of a state: {@code hash} and {@code
   * number} as {@link io.millrace.kernel.hash.MurmurHash3#finish} gives them, taken back.
   */
  static long keyWithHash(int hash, int number) {
    long finished = (long) hash << Integer.SIZE | Integer.toUnsignedLong(number);
    long mixed = (finished ^ (finished >>> 33)) * 0x9cb4b2f8129337dbL;
    mixed = (mixed ^ (mixed >>> 33)) * 0x4f74430c22a54005L;
    return mixed ^ (mixed >>> 33);
  }

  /** The key of a row of batch {@code batch} for uniformly distributed keys. */
  public static long uniform(long batch, long row, long keys) {
    return key(Long.remainderUnsigned(key(batch * 0x9e3779b97f4a7c15L + row + 1), keys));
  }

  /** A batch with these keys, and row numbers as values. */
  public static Table batch(
      int rows, LongUnaryOperator keyOfRow, DeviceStream stream, MemoryResource memory) {
    try (DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        Table host =
            new Table(
                SCHEMA,
                List.of(column(rows, keyOfRow, hostStream), column(rows, row -> row, hostStream)),
                rows)) {
      Table table = host.copyTo(memory, stream, stream);
      stream.synchronize();
      return table;
    }
  }

  private static Column column(int rows, LongUnaryOperator values, DeviceStream stream) {
    Buffer data = Buffer.allocate((long) rows * Long.BYTES, stream, HostMemoryResource.INSTANCE);
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = data.access(AccessMode.WRITE, scope);
      LongStream.range(0, rows)
          .parallel()
          .forEach(row -> HostMemory.putLong(address + row * Long.BYTES, values.applyAsLong(row)));
    }
    return new Column(DataType.INT64, rows, 0, data, null, List.of());
  }
}
