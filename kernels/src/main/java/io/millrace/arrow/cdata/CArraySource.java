// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.ArrowArraySource;
import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowNode;
import io.millrace.arrow.ArrowSchemaConverter;
import io.millrace.device.DeviceStream;
import io.millrace.memory.Buffer;
import io.millrace.memory.resource.HostMemoryResource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.TypeLayout;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Walks an ArrowArray struct of the C data interface depth first. Its buffers' lengths are not in
 * the struct: they are trusted to be what the nodes and offsets say.
 *
 * <p>Arrow's own importer is not used because it ignores the offsets of arrays.
 */
final class CArraySource implements ArrowArraySource {
  private final Buffer struct;
  private final DeviceStream stream;
  private final Deque<CArray> arrays = new ArrayDeque<>();
  private final Deque<Long> buffers = new ArrayDeque<>();

  /**
   * @param struct the root struct, which is shared by each buffer that is taken
   * @param array the struct to walk: the root or one of its dictionaries, checked by {@link
   *     #dictionaries}
   */
  CArraySource(Buffer struct, CArray array, DeviceStream stream) {
    this.struct = struct;
    this.stream = stream;
    this.arrays.push(array);
  }

  /** The struct of a dictionary's values and their field. */
  record DictionaryArray(long id, Field values, CArray array) {}

  /**
   * Checks all structs, of which nothing else may be read before, against the shape of {@code root}
   * and finds their dictionaries, those that others refer to first.
   *
   * @throws ArrowFormatException if a struct is not as {@link CArrayCheck} wants it
   */
  static List<DictionaryArray> dictionaries(CArray root, Field rootField)
      throws ArrowFormatException {
    List<DictionaryArray> found = new ArrayList<>();
    collect(root, rootField, ArrowSchemaConverter.dictionaryFields(List.of(rootField)), found);
    return found;
  }

  private static void collect(
      CArray array, Field field, Map<Long, Field> values, List<DictionaryArray> found)
      throws ArrowFormatException {
    boolean encoded = field.getDictionary() != null;
    List<Field> children = encoded ? List.of() : field.getChildren();
    int buffers = encoded ? 2 : TypeLayout.getTypeBufferCount(field.getType());
    new CArrayCheck(array, field).check(buffers, children.size(), encoded);
    for (int i = 0; i < children.size(); i++) {
      collect(array.child(i), children.get(i), values, found);
    }
    if (encoded) {
      long id = field.getDictionary().getId();
      collect(array.dictionary(), values.get(id), values, found);
      found.add(new DictionaryArray(id, values.get(id), array.dictionary()));
    }
  }

  @Override
  public ArrowNode nextNode() throws ArrowFormatException {
    CArray array = arrays.poll();
    if (array == null) {
      throw new ArrowFormatException("there are fewer arrays than the schema has fields");
    }
    buffers.clear();
    for (long i = 0; i < array.bufferCount(); i++) {
      buffers.add(array.buffer(i));
    }
    for (long i = array.childCount() - 1; i >= 0; i--) {
      arrays.push(array.child(i));
    }
    return new ArrowNode(array.length(), nullCount(array), array.offset());
  }

  // Values before the offset may be null even if none after it is.
  private static long nullCount(CArray array) {
    if (array.buffer(0) == 0) {
      return 0;
    }
    return array.nullCount() < 0 || array.offset() > 0 ? ArrowNode.UNKNOWN : array.nullCount();
  }

  @Override
  public ArrowBuffer nextBuffer(long needed) throws ArrowFormatException {
    Long address = buffers.poll();
    if (address == null || (address == 0 && needed > 0)) {
      throw new ArrowFormatException("an array lacks a buffer of " + needed + " bytes");
    }
    Buffer share = struct.share();
    return new ArrowBuffer(
        Buffer.wrap(address, needed, stream, HostMemoryResource.INSTANCE, share::close), needed);
  }
}
