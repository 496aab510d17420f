// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.calc.CalcProgram.Word;
import io.millrace.column.Column;
import io.millrace.column.DeferredRowCount;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelFunction;
import io.millrace.device.KernelModule;
import io.millrace.device.StagingBuffer;
import io.millrace.expression.typed.BatchValue;
import io.millrace.expression.vector.BatchContext;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** A generated kernel on one device. Thread-safe; each run has its own memory. */
final class CalcKernel implements AutoCloseable {
  private final CalcProgram program;
  private final KernelModule module;
  private final KernelFunction function;
  private final int residentBlocks;

  CalcKernel(CalcProgram program, Device device) {
    this.program = program;
    this.module = device.compileModule(program.ptx());
    try {
      this.function = module.function(CalcProgram.KERNEL);
      this.residentBlocks = function.residentBlocks(CalcProgram.THREADS, 0);
    } catch (RuntimeException | Error e) {
      module.close();
      throw e;
    }
  }

  /**
   * Runs the kernel in one launch. Enqueued on the stream; waits only if rows may fail or need the
   * host.
   *
   * @param input a table whose row count, or upper bound of it, is at least one
   * @param batch the batch of the table
   * @param tables constant tables of the calc
   * @param schema schema of the columns that the kernel writes
   * @throws io.millrace.device.GpuOutOfMemoryException if memory runs out or a column might exceed
   *     2 GiB
   */
  DevicePart.Result run(
      Table input,
      BatchContext batch,
      CalcTables tables,
      Schema schema,
      DeviceStream stream,
      MemoryResource memory) {
    List<Column> columns = new ArrayList<>();
    List<Buffer> temporary = new ArrayList<>();
    DeferredRowCount rowCount = null;
    boolean isDone = false;
    try (AccessScope scope = AccessScope.on(stream);
        KernelArguments arguments = new KernelArguments(program.argumentBytes())) {
      CalcOutputs allocated =
          new CalcOutputs(program, input, scope, memory, temporary, residentBlocks);
      allocated.putInputs(arguments);
      for (BatchValue.Property property : BatchValue.Property.values()) {
        arguments.putLong(Word.of(property).offset(), property.of(batch));
      }
      tables.put(arguments, program, scope, memory);
      if (program.hasFilter()) {
        rowCount = new DeferredRowCount(input.rowCountUpperBound(), stream, memory);
        long deviceCount = rowCount.deviceCount().access(AccessMode.WRITE, scope);
        arguments.putLong(Word.HOST_COUNT.offset(), rowCount.hostAddress());
        arguments.putLong(Word.DEVICE_COUNT.offset(), deviceCount);
      }
      allocated.allocateOutputs(arguments, columns);
      allocated.putControl(arguments);
      function.launch(allocated.tiles(), CalcProgram.THREADS, 0, stream, arguments);
      if (rowCount != null) {
        rowCount.written();
      }
      BitSet rowsForHost = program.mayNeedHost() ? rowsForHost(allocated, stream) : new BitSet();
      isDone = true;
      return new DevicePart.Result(
          rowCount == null
              ? input.withColumns(schema, columns)
              : new Table(schema, columns, rowCount),
          rowsForHost);
    } finally {
      FirstFailure closing = new FirstFailure();
      temporary.forEach(buffer -> closing.run(buffer::close));
      if (!isDone) {
        columns.forEach(column -> closing.run(column::close));
        if (rowCount != null) {
          closing.run(rowCount::close);
        }
      }
      closing.rethrow();
    }
  }

  /** Unloads the kernel. All runs must have completed on the device. */
  @Override
  public void close() {
    module.close();
  }

  private static BitSet rowsForHost(CalcOutputs allocated, DeviceStream stream) {
    boolean isSet = read(allocated.needsHostAddress(), 1, stream)[0] != 0;
    return isSet
        ? BitSet.valueOf(
            read(
                allocated.rowsForHostAddress(),
                (int) (allocated.rowsForHostBytes() / Long.BYTES),
                stream))
        : new BitSet();
  }

  private static long[] read(long address, int words, DeviceStream stream) {
    long bytes = (long) words * Long.BYTES;
    try (StagingBuffer copy = stream.device().stagingPool().acquire(bytes)) {
      stream.copy(copy.address(), address, bytes);
      try (DeviceEvent copied = stream.recordEvent()) {
        copied.synchronize();
      }
      long[] read = new long[words];
      HostMemory.copyToArray(read, copy.address(), words);
      return read;
    }
  }
}
