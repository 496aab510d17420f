// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.Call;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The constant tables that the functions of one calc read. They are uploaded into one buffer when
 * the calc is first applied on a device, and stay there until this object is closed. Thread-safe.
 */
final class CalcTables implements AutoCloseable {
  private static final int ALIGNMENT = 16;

  private final List<byte[]> tables;
  private final List<Long> offsets = new ArrayList<>();
  private final long bytes;
  private final Map<Device, Uploaded> uploaded = new ConcurrentHashMap<>();

  /**
   * The tables have their own stream, because the streams of their readers may be closed earlier.
   */
  private record Uploaded(Buffer buffer, DeviceStream stream) implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      failure.run(buffer::close);
      failure.run(stream::close);
      failure.rethrow();
    }
  }

  /**
   * @param nodes all expressions of the calc, in the order of {@link TypedExpression#nodes}
   */
  CalcTables(Collection<TypedExpression> nodes) {
    this.tables = calls(nodes).stream().map(CalcTables::tableOf).toList();
    long next = 0;
    for (byte[] table : tables) {
      offsets.add(next);
      next += (table.length + ALIGNMENT - 1L) / ALIGNMENT * ALIGNMENT;
    }
    this.bytes = next;
  }

  /** The calls among {@code nodes} that read a table, in the order of the kernel arguments. */
  static List<Call> calls(Collection<TypedExpression> nodes) {
    return nodes.stream()
        .filter(node -> node instanceof Call call && tableOf(call).length > 0)
        .map(Call.class::cast)
        .toList();
  }

  private static byte[] tableOf(Call call) {
    return call.function()
        .device()
        .filter(DeviceFunction.LibraryFunction.class::isInstance)
        .map(function -> ((DeviceFunction.LibraryFunction) function).table())
        .orElse(new byte[0]);
  }

  /**
   * Writes the addresses of the tables, which are accessed in {@code scope}, into kernel arguments.
   * The first call on a device waits for the upload.
   *
   * @param memory must be usable until this object is closed
   * @throws io.millrace.device.GpuOutOfMemoryException if memory for the tables runs out
   */
  void put(
      KernelArguments arguments, CalcProgram program, AccessScope scope, MemoryResource memory) {
    if (tables.isEmpty()) {
      return;
    }
    Uploaded there =
        uploaded.computeIfAbsent(scope.stream().device(), device -> upload(device, memory));
    long address = there.buffer().access(AccessMode.READ, scope);
    for (int i = 0; i < tables.size(); i++) {
      arguments.putLong(program.tableOffset(i), address + offsets.get(i));
    }
  }

  private Uploaded upload(Device device, MemoryResource memory) {
    long staging = HostMemory.allocate(bytes);
    DeviceStream stream = null;
    try {
      for (int i = 0; i < tables.size(); i++) {
        byte[] table = tables.get(i);
        HostMemory.copyFromArray(staging + offsets.get(i), table, 0, table.length);
      }
      stream = device.createStream();
      Buffer buffer = Buffer.copyOf(staging, bytes, stream, memory);
      stream.synchronize();
      return new Uploaded(buffer, stream);
    } catch (RuntimeException | Error e) {
      if (stream != null) {
        stream.close();
      }
      throw e;
    } finally {
      HostMemory.free(staging);
    }
  }

  /** Frees the tables. All readers must have completed on their devices. */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    for (Device device : List.copyOf(uploaded.keySet())) {
      Uploaded there = uploaded.remove(device);
      if (there != null) {
        failure.run(there::close);
      }
    }
    failure.rethrow();
  }
}
