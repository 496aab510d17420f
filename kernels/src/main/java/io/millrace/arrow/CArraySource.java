package io.millrace.arrow;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.memory.Buffer;
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
  static final int STRUCT_BYTES = 80;

  private static final int LENGTH = 0;
  private static final int NULL_COUNT = 8;
  private static final int OFFSET = 16;
  private static final int BUFFER_COUNT = 24;
  private static final int CHILD_COUNT = 32;
  private static final int BUFFERS = 40;
  private static final int CHILDREN = 48;
  private static final int DICTIONARY = 56;

  private final Buffer struct;
  private final DeviceStream stream;
  private final Deque<Long> arrays = new ArrayDeque<>();
  private final Deque<Long> buffers = new ArrayDeque<>();

  /**
   * @param struct the root struct, which is shared by each buffer that is taken
   * @param address the struct to walk: the root or one of its dictionaries, checked by {@link
   *     #dictionaries}
   */
  CArraySource(Buffer struct, long address, DeviceStream stream) {
    this.struct = struct;
    this.stream = stream;
    this.arrays.push(address);
  }

  /** The struct of a dictionary's values and their field. */
  record DictionaryArray(long id, Field values, long address) {}

  /**
   * Checks that the structs have the shape of {@code root} and finds their dictionaries, those that
   * others refer to first.
   *
   * @throws ArrowFormatException if a struct lacks a child, a buffer or a dictionary
   */
  static List<DictionaryArray> dictionaries(long root, Field rootField)
      throws ArrowFormatException {
    List<DictionaryArray> found = new ArrayList<>();
    collect(root, rootField, ArrowSchemaConverter.dictionaryFields(List.of(rootField)), found);
    return found;
  }

  private static void collect(
      long array, Field field, Map<Long, Field> values, List<DictionaryArray> found)
      throws ArrowFormatException {
    boolean encoded = field.getDictionary() != null;
    int buffers = encoded ? 2 : TypeLayout.getTypeBufferCount(field.getType());
    check(field, "buffers", get(array, BUFFER_COUNT), buffers);
    if (get(array, BUFFERS) == 0) {
      throw new ArrowFormatException("column '" + field.getName() + "' has no buffers");
    }
    List<Field> children = encoded ? List.of() : field.getChildren();
    check(field, "children", get(array, CHILD_COUNT), children.size());
    for (int i = 0; i < children.size(); i++) {
      collect(child(array, i), children.get(i), values, found);
    }
    long dictionary = get(array, DICTIONARY);
    check(field, "dictionaries", dictionary == 0 ? 0 : 1, encoded ? 1 : 0);
    if (encoded) {
      long id = field.getDictionary().getId();
      collect(dictionary, values.get(id), values, found);
      found.add(new DictionaryArray(id, values.get(id), dictionary));
    }
  }

  private static void check(Field field, String what, long found, int expected)
      throws ArrowFormatException {
    if (found != expected) {
      throw new ArrowFormatException(
          "column '"
              + field.getName()
              + "' ("
              + field.getType()
              + ") has "
              + found
              + " "
              + what
              + " where "
              + expected
              + " are needed");
    }
  }

  private static long get(long array, int member) {
    return HostMemory.getLong(array + member);
  }

  private static long child(long array, long index) {
    return HostMemory.getLong(get(array, CHILDREN) + index * Long.BYTES);
  }

  @Override
  public ArrowNode nextNode() throws ArrowFormatException {
    Long array = arrays.poll();
    if (array == null) {
      throw new ArrowFormatException("there are fewer arrays than the schema has fields");
    }
    buffers.clear();
    for (long i = 0; i < get(array, BUFFER_COUNT); i++) {
      buffers.add(HostMemory.getLong(get(array, BUFFERS) + i * Long.BYTES));
    }
    for (long i = get(array, CHILD_COUNT) - 1; i >= 0; i--) {
      arrays.push(child(array, i));
    }
    return new ArrowNode(get(array, LENGTH), nullCount(array), get(array, OFFSET));
  }

  // Values before the offset may be null even if none after it is.
  private long nullCount(long array) {
    long announced = get(array, NULL_COUNT);
    if (buffers.getFirst() == 0) {
      return Math.max(0, announced);
    }
    return announced < 0 || get(array, OFFSET) > 0 ? ArrowNode.UNKNOWN : announced;
  }

  @Override
  public ArrowBuffer nextBuffer(long needed) throws ArrowFormatException {
    Long address = buffers.poll();
    if (address == null || (address == 0 && needed > 0)) {
      throw new ArrowFormatException("an array lacks a buffer of " + needed + " bytes");
    }
    Buffer share = struct.share();
    return new ArrowBuffer(
        Buffer.wrap(address, needed, HostDevice.INSTANCE, stream, share::close), needed);
  }
}
