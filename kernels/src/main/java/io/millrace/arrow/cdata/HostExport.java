// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.ArrowArrays;
import io.millrace.arrow.ArrowNode;
import io.millrace.column.Column;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Arrays of host columns without offsets, as {@link ArrowArrays} lays them out, and the memory that
 * they need. Readers that take no notice of offsets can read them.
 */
final class HostExport implements AutoCloseable {
  private final DeviceStream stream;
  private final MemoryResource resource;
  private final List<ArrowArrays> opened = new ArrayList<>();

  HostExport(DeviceStream stream, MemoryResource resource) {
    this.stream = stream;
    this.resource = resource;
  }

  /** The arrays of {@code columns}, valid until this is closed. */
  List<ExportedArray> arrays(List<Column> columns) {
    ArrowArrays arrays = ArrowArrays.of(columns, stream, resource);
    opened.add(arrays);
    Walk walk = new Walk(arrays.nodes().iterator(), arrays.addresses().iterator());
    return columns.stream().map(column -> array(column, walk)).toList();
  }

  private record Walk(Iterator<ArrowNode> nodes, Iterator<Long> buffers) {}

  private ExportedArray array(Column column, Walk walk) {
    ArrowNode node = walk.nodes.next();
    List<Long> buffers = new ArrayList<>();
    for (int i = 0; i < bufferCount(column.type().id()); i++) {
      buffers.add(walk.buffers.next());
    }
    boolean encoded = column.type().id() == TypeId.DICTIONARY;
    List<ExportedArray> children = new ArrayList<>();
    for (int i = column.hasOffsets() ? 1 : 0; i < column.children().size() && !encoded; i++) {
      children.add(array(column.child(i), walk));
    }
    ExportedArray dictionary = encoded ? arrays(List.of(column.child(0))).get(0) : null;
    return new ExportedArray(node, buffers, children, dictionary);
  }

  private static int bufferCount(TypeId type) {
    return switch (type) {
      case STRING, BINARY -> 3;
      case STRUCT, TIMESTAMP_NANOS -> 1;
      default -> 2;
    };
  }

  @Override
  public void close() {
    opened.forEach(ArrowArrays::close);
  }
}
