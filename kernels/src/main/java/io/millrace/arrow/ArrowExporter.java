// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.ForeignAllocation;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.util.DictionaryUtility;

/**
 * Exports tables as Arrow vectors. The vectors share a host table's memory if the layouts agree
 * (see {@link ArrowArrays} for conversions); the memory lives until table and vectors are closed,
 * in any order, on any thread. The allocator counts the shared memory as its own. The vectors must
 * not be written to.
 *
 * <p>A table in device memory is copied to the host first. Used by one thread.
 */
@PublicEvolving
public final class ArrowExporter {
  private final BufferAllocator allocator;
  private final DeviceStream hostStream;
  private final MemoryResource resource;

  /**
   * @param allocator owned by the caller; closed after the vectors
   * @param hostStream a host stream, open as long as the vectors
   * @param resource host memory for conversions and copies; pinned memory is the fastest for tables
   *     in device memory
   */
  public ArrowExporter(
      BufferAllocator allocator, DeviceStream hostStream, MemoryResource resource) {
    this.allocator = allocator;
    this.hostStream = hostStream;
    this.resource = resource;
  }

  /**
   * Exports the vectors of {@code table}. The caller still owns the table and closes the root.
   *
   * @param dictionaries takes the dictionaries, numbered from 0, of DICTIONARY columns; the caller
   *     closes it
   * @param stream a stream of the table's device, which is waited for; of the host for host tables
   * @throws org.apache.arrow.memory.OutOfMemoryException if the allocator's limit is reached
   */
  public VectorSchemaRoot export(
      Table table, MapDictionaryProvider dictionaries, DeviceStream stream) {
    if (isHostAccessible(table)) {
      return exportHost(table, dictionaries);
    }
    try (Table host = table.copyTo(resource, hostStream, stream)) {
      return exportHost(host, dictionaries);
    }
  }

  private static boolean isHostAccessible(Table table) {
    return table.columns().stream()
        .flatMap(column -> column.device().stream())
        .allMatch(Device::isHostAccessible);
  }

  private VectorSchemaRoot exportHost(Table table, MapDictionaryProvider dictionaries) {
    Map<Long, Dictionary> created = new HashMap<>();
    VectorSchemaRoot root = null;
    try {
      List<Field> fields = new ArrayList<>();
      for (Field field : ArrowSchemaConverter.toArrow(table.schema()).getFields()) {
        fields.add(DictionaryUtility.toMemoryFormat(field, allocator, created));
      }
      root =
          VectorSchemaRoot.create(new org.apache.arrow.vector.types.pojo.Schema(fields), allocator);
      load(root, table.columns(), table.rowCount());
      List<Column> values = ArrowDictionaries.of(table.columns());
      for (int id = 0; id < values.size(); id++) {
        FieldVector vector = created.get((long) id).getVector();
        load(VectorSchemaRoot.of(vector), List.of(values.get(id)), values.get(id).size());
      }
      created.values().forEach(dictionaries::put);
      return root;
    } catch (RuntimeException | Error e) {
      if (root != null) {
        root.close();
      }
      created.values().forEach(dictionary -> dictionary.getVector().close());
      throw e;
    }
  }

  private void load(VectorSchemaRoot root, List<Column> columns, int rows) {
    List<ArrowBuf> wrapped = new ArrayList<>();
    try (ArrowArrays arrays = ArrowArrays.of(columns, hostStream, resource)) {
      for (Buffer buffer : arrays.buffers()) {
        wrapped.add(wrap(buffer));
      }
      List<ArrowFieldNode> nodes = new ArrayList<>();
      for (ArrowNode node : arrays.nodes()) {
        nodes.add(new ArrowFieldNode(node.length(), node.nullCount()));
      }
      try (ArrowRecordBatch batch = new ArrowRecordBatch(rows, nodes, wrapped)) {
        new VectorLoader(root).load(batch);
      }
    } finally {
      wrapped.forEach(ArrowBuf::close);
    }
  }

  // The scope keeps the memory in its place as long as the vector has the address.
  private ArrowBuf wrap(Buffer buffer) {
    if (buffer.size() == 0) {
      return allocator.getEmpty();
    }
    Buffer shared = buffer.share();
    AccessScope scope = AccessScope.on(hostStream);
    try {
      return allocator.wrapForeignAllocation(
          new ForeignAllocation(shared.size(), shared.access(AccessMode.READ, scope)) {
            @Override
            protected void release0() {
              close(scope, shared);
            }
          });
    } catch (RuntimeException | Error e) {
      close(scope, shared);
      throw e;
    }
  }

  private static void close(AccessScope scope, Buffer buffer) {
    try (buffer) {
      scope.close();
    }
  }
}
