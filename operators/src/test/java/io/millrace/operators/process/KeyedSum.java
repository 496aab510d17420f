// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
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
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.RuntimeContext;

/** Adds up {@code n} for each key, by kernels of its own on a GPU. */
final class KeyedSum implements KeyedBatchFunction {
  private static final long serialVersionUID = 1L;
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

  // null on the host.
  private transient KernelModule kernels;

  static String ptx() throws IOException {
    try (InputStream ptx = KeyedSum.class.getResourceAsStream("keyed_sum.ptx")) {
      return new String(ptx.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Override
  public Schema outputSchema(Schema input) {
    return Schema.of(input.field(0), new Field("sum", DataType.INT64, false));
  }

  @Override
  public Schema stateSchema(Schema input) {
    return Schema.of(Field.of("sum", DataType.INT64));
  }

  @Override
  public void open(Schema input, DeviceContext device, RuntimeContext runtime) throws Exception {
    if (!device.device().isHostAccessible()) {
      kernels = device.device().compileModule(ptx());
    }
  }

  @Override
  public KeyedResult process(KeyedBatch batch) {
    DeviceStream stream = batch.device().stream();
    int keys = batch.keys().rowCount();
    try (Buffer sums =
        Buffer.allocate((long) keys * Long.BYTES, stream, batch.device().resource())) {
      try (AccessScope scope = AccessScope.on(stream)) {
        long address = sums.access(AccessMode.WRITE, scope);
        if (kernels == null) {
          addOnHost(batch, address, scope);
        } else {
          launch(batch, address, scope);
        }
      }
      Schema input = batch.rows().schema();
      Column sum = new Column(DataType.INT64, keys, 0, sums.share(), null, List.of());
      List<Column> output = new ArrayList<>(List.of(batch.keys().column(0).share(), sum));
      return new KeyedResult(
          new Table(outputSchema(input), output, keys),
          new Table(stateSchema(input), List.of(sum.share()), keys));
    }
  }

  private void launch(KeyedBatch batch, long sums, AccessScope scope) {
    Column before = batch.state().column("sum");
    int keys = batch.keys().rowCount();
    int rows = batch.rows().rowCount();
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.KEY_NUMBERS, batch.keyNumbers().dataAddress(scope))
          .put(Arguments.VALUES, batch.rows().column("n").dataAddress(scope))
          .put(Arguments.BEFORE, before.dataAddress(scope))
          .put(
              Arguments.IS_SET,
              before.validity().map(mask -> mask.access(AccessMode.READ, scope)).orElse(0L))
          .put(Arguments.SUMS, sums)
          .put(Arguments.KEYS, keys)
          .put(Arguments.ROWS, rows);
      DeviceStream stream = batch.device().stream();
      kernels.function("begin_sums").launch(blocks(keys), THREADS, 0, stream, arguments);
      kernels.function("add_rows").launch(blocks(rows), THREADS, 0, stream, arguments);
    }
  }

  private static int blocks(int threads) {
    return (threads - 1) / THREADS + 1;
  }

  private static void addOnHost(KeyedBatch batch, long sums, AccessScope scope) {
    ColumnReader before = new ColumnReader(batch.state().column("sum"), scope);
    for (int key = 0; key < before.size(); key++) {
      long sum = before.isNull(key) ? 0 : before.getLong(key);
      HostMemory.putLong(sums + (long) key * Long.BYTES, sum);
    }
    ColumnReader keyNumbers = new ColumnReader(batch.keyNumbers(), scope);
    ColumnReader values = new ColumnReader(batch.rows().column("n"), scope);
    for (int row = 0; row < values.size(); row++) {
      long sum = sums + (long) keyNumbers.getInt(row) * Long.BYTES;
      HostMemory.putLong(sum, HostMemory.getLong(sum) + values.getLong(row));
    }
  }

  @Override
  public void close() {
    if (kernels != null) {
      kernels.close();
    }
  }
}
