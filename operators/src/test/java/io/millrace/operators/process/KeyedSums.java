// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.operators.context.DeviceContext;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Adds values to the sums of their keys, by kernels of its own on a GPU. */
public final class KeyedSums implements AutoCloseable {
  private static final int THREADS = 256;

  /** The structure {@code KeyedSumArguments} of keyed_sum.cu. */
  private static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("KeyedSumArguments");
    static final KernelStructure.Int64 KEY_NUMBERS = LAYOUT.int64("key_numbers");
    static final KernelStructure.Int64 VALUES = LAYOUT.int64("values");
    static final KernelStructure.Int64 BEFORE = LAYOUT.int64("before");
    static final KernelStructure.Int64 IS_SET = LAYOUT.int64("is_set");
    static final KernelStructure.Int64 SUMS = LAYOUT.int64("sums");
    static final KernelStructure.Int32 KEYS = LAYOUT.int32("keys");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
  }

  private final DeviceContext device;
  // null on the host.
  private final KernelModule kernels;

  public KeyedSums(DeviceContext device) throws IOException {
    this.device = device;
    this.kernels = device.device().isHostAccessible() ? null : device.device().compileModule(ptx());
  }

  static String ptx() throws IOException {
    try (InputStream ptx = KeyedSums.class.getResourceAsStream("keyed_sum.ptx")) {
      return new String(ptx.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /**
   * The new sums; the caller closes the column.
   *
   * @param keyNumbers the number of each value's key
   * @param values BIGINTs, none of which is null
   * @param before the sum of each key before; null: 0
   */
  public Column add(Column keyNumbers, Column values, Column before) {
    int keys = before.size();
    DeviceStream stream = device.stream();
    try (Buffer sums = Buffer.allocate((long) keys * Long.BYTES, stream, device.resource());
        AccessScope scope = AccessScope.on(stream)) {
      long address = sums.access(AccessMode.WRITE, scope);
      if (kernels == null) {
        addOnHost(keyNumbers, values, before, address, scope);
      } else {
        launch(keyNumbers, values, before, address, scope);
      }
      return new Column(DataType.INT64, keys, 0, sums.share(), null, List.of());
    }
  }

  private void launch(
      Column keyNumbers, Column values, Column before, long sums, AccessScope scope) {
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.KEY_NUMBERS, keyNumbers.dataAddress(scope))
          .put(Arguments.VALUES, values.dataAddress(scope))
          .put(Arguments.BEFORE, before.dataAddress(scope))
          .put(
              Arguments.IS_SET,
              before.validity().map(mask -> mask.access(AccessMode.READ, scope)).orElse(0L))
          .put(Arguments.SUMS, sums)
          .put(Arguments.KEYS, before.size())
          .put(Arguments.ROWS, values.size());
      launch("begin_sums", before.size(), arguments);
      launch("add_rows", values.size(), arguments);
    }
  }

  private void launch(String kernel, int threads, KernelArguments arguments) {
    if (threads > 0) {
      int blocks = (threads - 1) / THREADS + 1;
      kernels.function(kernel).launch(blocks, THREADS, 0, device.stream(), arguments);
    }
  }

  private static void addOnHost(
      Column keyNumbers, Column values, Column before, long sums, AccessScope scope) {
    ColumnReader sumsBefore = new ColumnReader(before, scope);
    for (int key = 0; key < before.size(); key++) {
      long sum = sumsBefore.isNull(key) ? 0 : sumsBefore.getLong(key);
      HostMemory.putLong(sums + (long) key * Long.BYTES, sum);
    }
    ColumnReader numbers = new ColumnReader(keyNumbers, scope);
    ColumnReader added = new ColumnReader(values, scope);
    for (int row = 0; row < values.size(); row++) {
      long sum = sums + (long) numbers.getInt(row) * Long.BYTES;
      HostMemory.putLong(sum, HostMemory.getLong(sum) + added.getLong(row));
    }
  }

  @Override
  public void close() {
    if (kernels != null) {
      kernels.close();
    }
  }
}
