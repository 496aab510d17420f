package io.millrace.arrow;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.device.HostMemory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.c.CDataDictionaryProvider;
import org.apache.arrow.c.Data;
import org.apache.arrow.c.jni.JniWrapper;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.util.DictionaryUtility;

/** Schemas to and from ArrowSchema structs of the C data interface. */
final class CSchema {
  private static final int BYTES = 72;
  private static final int CHILD_COUNT = 32;
  private static final int CHILDREN = 40;
  private static final int DICTIONARY = 48;

  private CSchema() {}

  /** A struct of the columns; the caller releases and closes it. */
  static ArrowSchema export(Schema schema, BufferAllocator allocator) {
    List<Field> columns = ArrowSchemaConverter.toArrow(schema).getFields();
    FieldType struct = FieldType.notNullable(ArrowType.Struct.INSTANCE);
    return export(new Field("", struct, columns), allocator);
  }

  /** A column; the caller releases and closes it. */
  static ArrowSchema export(DataType.Field field, BufferAllocator allocator) {
    return export(ArrowSchemaConverter.toArrow(field), allocator);
  }

  private static ArrowSchema export(Field field, BufferAllocator allocator) {
    Map<Long, Dictionary> created = new HashMap<>();
    ArrowSchema schema = ArrowSchema.allocateNew(allocator);
    try (MapDictionaryProvider dictionaries = new MapDictionaryProvider()) {
      Field inMemory = DictionaryUtility.toMemoryFormat(field, allocator, created);
      created.values().forEach(dictionaries::put);
      Data.exportField(allocator, inMemory, dictionaries, schema);
      return schema;
    } catch (RuntimeException | Error e) {
      schema.close();
      throw e;
    }
  }

  /**
   * The field of a struct in message format. Reads a copy of the struct, because Arrow's importer
   * releases what it reads; the struct stays its owner's.
   */
  static Field read(ArrowSchema schema, BufferAllocator allocator) {
    List<Long> copies = new ArrayList<>();
    try (CDataDictionaryProvider dictionaries = new CDataDictionaryProvider()) {
      ArrowSchema copy = ArrowSchema.wrap(copy(schema.memoryAddress(), copies));
      Field field = Data.importField(allocator, copy, dictionaries);
      return DictionaryUtility.toMessageFormat(field, dictionaries, new HashSet<>());
    } finally {
      copies.forEach(HostMemory::free);
    }
  }

  /** Copies a struct and those below it; the copies' release callbacks do nothing. */
  private static long copy(long schema, List<Long> copies) {
    long children = HostMemory.getLong(schema + CHILD_COUNT);
    long copy = HostMemory.allocate(BYTES + children * Long.BYTES);
    copies.add(copy);
    HostMemory.copy(copy, schema, BYTES);
    for (long i = 0; i < children; i++) {
      long child = HostMemory.getLong(HostMemory.getLong(schema + CHILDREN) + i * Long.BYTES);
      HostMemory.putLong(copy + BYTES + i * Long.BYTES, copy(child, copies));
    }
    HostMemory.putLong(copy + CHILDREN, copy + BYTES);
    long dictionary = HostMemory.getLong(schema + DICTIONARY);
    HostMemory.putLong(copy + DICTIONARY, dictionary == 0 ? 0 : copy(dictionary, copies));
    JniWrapper.get().exportSchema(copy, () -> {});
    return copy;
  }
}
