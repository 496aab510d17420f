// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.util.DictionaryUtility;

/**
 * Makes host tables of Arrow vectors. A table shares the vectors' memory where the layouts agree
 * (see {@link ArrowColumnImporter}), which the allocator keeps until both are closed; each may be
 * closed first, the table on any thread. The vectors must not be written to any more; a root that
 * is to be filled again must be cleared first.
 *
 * <p>To move Arrow data to a device, let its vectors be allocated in pinned memory ({@link
 * PinnedAllocationManagerFactory}) and copy the table: each buffer is copied once. Used by one
 * thread.
 */
@PublicEvolving
public final class ArrowImporter {
  private final DeviceStream hostStream;
  private final MemoryResource resource;

  /**
   * @param hostStream a host stream, open as long as the tables
   * @param resource host memory for converted columns
   */
  public ArrowImporter(DeviceStream hostStream, MemoryResource resource) {
    this.hostStream = hostStream;
    this.resource = resource;
  }

  /**
   * A table of the vectors of {@code root}; the caller owns it.
   *
   * @param dictionaries knows the dictionaries that the vectors refer to
   * @throws IllegalArgumentException if a column's type is not supported or a dictionary is not
   *     known
   * @throws ArrowFormatException if the vectors do not hold what their types say
   */
  public Table importTable(VectorSchemaRoot root, DictionaryProvider dictionaries)
      throws ArrowFormatException {
    List<Field> fields = new ArrayList<>();
    for (Field field : root.getSchema().getFields()) {
      fields.add(DictionaryUtility.toMessageFormat(field, dictionaries, new HashSet<>()));
    }
    Schema schema =
        ArrowSchemaConverter.fromArrow(new org.apache.arrow.vector.types.pojo.Schema(fields));
    Map<Long, Column> values = new HashMap<>();
    try {
      for (Map.Entry<Long, Field> entry :
          ArrowSchemaConverter.dictionaryFields(fields).entrySet()) {
        FieldVector vector = dictionaries.lookup(entry.getKey()).getVector();
        values.put(entry.getKey(), importVector(entry.getValue(), vector, values));
      }
      return ArrowColumnImporter.importTable(
          fields,
          schema,
          root.getRowCount(),
          new VectorSource(root.getFieldVectors(), hostStream),
          target(values));
    } finally {
      values.values().forEach(Column::close);
    }
  }

  private Column importVector(Field field, FieldVector vector, Map<Long, Column> dictionaries)
      throws ArrowFormatException {
    DataType type =
        ArrowSchemaConverter.fromArrow(
                new org.apache.arrow.vector.types.pojo.Schema(List.of(field)))
            .type(0);
    return ArrowColumnImporter.importColumn(
        field, type, new VectorSource(List.of(vector), hostStream), target(dictionaries));
  }

  private ArrowColumnImporter.Target target(Map<Long, Column> dictionaries) {
    return new ArrowColumnImporter.Target(dictionaries, hostStream, resource);
  }

  /** Walks vectors depth first. */
  private static final class VectorSource implements ArrowArraySource {
    private final DeviceStream stream;
    private final Deque<FieldVector> vectors = new ArrayDeque<>();
    private final Deque<ArrowBuf> buffers = new ArrayDeque<>();

    VectorSource(List<FieldVector> vectors, DeviceStream stream) {
      this.vectors.addAll(vectors);
      this.stream = stream;
    }

    @Override
    public ArrowNode nextNode() throws ArrowFormatException {
      FieldVector vector = vectors.poll();
      if (vector == null) {
        throw new ArrowFormatException("there are fewer vectors than the schema has fields");
      }
      buffers.clear();
      buffers.addAll(vector.getFieldBuffers());
      List<FieldVector> children = vector.getChildrenFromFields();
      for (int i = children.size() - 1; i >= 0; i--) {
        vectors.push(children.get(i));
      }
      return ArrowNode.of(vector.getValueCount(), vector.getNullCount());
    }

    @Override
    public ArrowBuffer nextBuffer(long needed) throws ArrowFormatException {
      ArrowBuf buffer = buffers.poll();
      if (buffer == null) {
        throw new ArrowFormatException("a vector has fewer buffers than its type");
      }
      buffer.getReferenceManager().retain();
      Buffer memory =
          Buffer.wrap(
              buffer.memoryAddress(),
              buffer.capacity(),
              stream,
              HostMemoryResource.INSTANCE,
              () -> buffer.getReferenceManager().release());
      return new ArrowBuffer(memory, buffer.capacity());
    }
  }
}
