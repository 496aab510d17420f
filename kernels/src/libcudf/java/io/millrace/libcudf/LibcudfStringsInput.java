// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.ColumnVector;
import ai.rapids.cudf.DType;
import ai.rapids.cudf.HostColumnVector;
import ai.rapids.cudf.HostMemoryBuffer;
import ai.rapids.cudf.Rmm;
import ai.rapids.cudf.RmmAllocationMode;
import ai.rapids.cudf.Table;
import io.millrace.column.Column;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.kernel.partition.StringsInput;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import java.util.Optional;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The rows of {@link StringsInput} in libcudf's memory, which comes from its pool allocator. */
@State(Scope.Benchmark)
public class LibcudfStringsInput {
  private static final long POOL_BYTES = 20L << 30;

  Table table;
  Table texts;
  ColumnVector map;

  /** Copies the rows to the device. */
  @Setup
  public void create(StringsInput input) {
    if (!Rmm.isInitialized()) {
      Rmm.initialize(RmmAllocationMode.POOL, null, POOL_BYTES);
    }
    try (DeviceStream stream = HostDevice.INSTANCE.createStream();
        io.millrace.column.Table host = input.createOnHost(stream);
        io.millrace.column.Table hostMap = input.createMapOnHost(stream);
        AccessScope scope = AccessScope.on(stream);
        ColumnVector text = copy(host.column(StringsInput.TEXT), scope);
        ColumnVector number = copy(host.column(StringsInput.NUMBER), scope);
        ColumnVector key = copy(host.column(StringsInput.KEY), scope)) {
      table = new Table(text, number, key);
      texts = new Table(text);
      map = copy(hostMap.column(0), scope);
    }
  }

  private static ColumnVector copy(Column column, AccessScope scope) {
    HostMemoryBuffer data = copy(column.data().orElseThrow(), scope);
    HostMemoryBuffer offsets =
        column.hasOffsets() ? copy(column.child(0).data().orElseThrow(), scope) : null;
    try (HostColumnVector host =
        new HostColumnVector(type(column), column.size(), Optional.of(0L), data, null, offsets)) {
      return host.copyToDevice();
    }
  }

  private static DType type(Column column) {
    return switch (column.type().id()) {
      case STRING -> DType.STRING;
      case INT32 -> DType.INT32;
      case INT64 -> DType.INT64;
      default -> throw new IllegalArgumentException("unexpected type " + column.type());
    };
  }

  private static HostMemoryBuffer copy(Buffer buffer, AccessScope scope) {
    HostMemoryBuffer copy = HostMemoryBuffer.allocate(buffer.size(), false);
    HostMemory.copy(copy.getAddress(), buffer.access(AccessMode.READ, scope), buffer.size());
    return copy;
  }

  /** Frees the device's memory. */
  @TearDown
  public void close() {
    table.close();
    texts.close();
    map.close();
  }
}
