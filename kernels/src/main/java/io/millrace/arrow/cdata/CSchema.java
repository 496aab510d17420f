// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowSchemaConverter;
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
  private static final int FORMAT = 0;
  private static final int NAME = 8;
  private static final int METADATA = 16;
  private static final int CHILD_COUNT = 32;
  private static final int CHILDREN = 40;
  private static final int DICTIONARY = 48;
  private static final int RELEASE = 56;
  // The flags that Arrow defines.
  private static final int MAX_DEPTH = 64;
  // More than any table has; what lies above it was never a count.
  private static final int MAX_CHILDREN = 1 << 20;

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
   * releases the struct that it reads; the caller still owns the struct.
   *
   * @throws ArrowFormatException if the struct, or a struct below it, is released, missing, without
   *     a format, or invalid
   */
  static Field read(ArrowSchema schema, BufferAllocator allocator) throws ArrowFormatException {
    List<Long> copies = new ArrayList<>();
    try (CDataDictionaryProvider dictionaries = new CDataDictionaryProvider()) {
      ArrowSchema copy = ArrowSchema.wrap(copy(schema.memoryAddress(), 0, copies));
      Field field = importField(copy, dictionaries, allocator);
      return DictionaryUtility.toMessageFormat(field, dictionaries, new HashSet<>());
    } finally {
      copies.forEach(HostMemory::free);
    }
  }

  // Arrow does not specify the exceptions of its importer.
  private static Field importField(
      ArrowSchema schema, CDataDictionaryProvider dictionaries, BufferAllocator allocator)
      throws ArrowFormatException {
    try {
      return Data.importField(allocator, schema, dictionaries);
    } catch (RuntimeException e) {
      throw new ArrowFormatException("the schema is not understood: " + e.getMessage(), e);
    }
  }

  /** Copies a struct and those below it; the copies' release callbacks do nothing. */
  private static long copy(long schema, int depth, List<Long> copies) throws ArrowFormatException {
    check(schema, depth);
    long children = HostMemory.getLong(schema + CHILD_COUNT);
    long copy = HostMemory.allocate(BYTES + children * Long.BYTES);
    copies.add(copy);
    HostMemory.copy(copy, schema, BYTES);
    for (long i = 0; i < children; i++) {
      long child = HostMemory.getLong(HostMemory.getLong(schema + CHILDREN) + i * Long.BYTES);
      HostMemory.putLong(copy + BYTES + i * Long.BYTES, copy(child, depth + 1, copies));
    }
    HostMemory.putLong(copy + CHILDREN, copy + BYTES);
    long dictionary = HostMemory.getLong(schema + DICTIONARY);
    HostMemory.putLong(
        copy + DICTIONARY, dictionary == 0 ? 0 : copy(dictionary, depth + 1, copies));
    JniWrapper.get().exportSchema(copy, () -> {});
    return copy;
  }

  private static void check(long schema, int depth) throws ArrowFormatException {
    if (!CArrayCheck.isStruct(schema)) {
      throw misfit("a struct at the address " + schema);
    }
    if (depth > MAX_DEPTH) {
      throw misfit("fields nested more than " + MAX_DEPTH + " deep");
    }
    if (HostMemory.getLong(schema + RELEASE) == 0) {
      throw misfit("a struct that is released");
    }
    if (HostMemory.getLong(schema + FORMAT) <= 0) {
      throw misfit("a field without a format");
    }
    if (HostMemory.getLong(schema + NAME) < 0 || HostMemory.getLong(schema + METADATA) < 0) {
      throw misfit("a field whose name or metadata is at no address");
    }
    long children = HostMemory.getLong(schema + CHILD_COUNT);
    if (children < 0 || children > MAX_CHILDREN) {
      throw misfit("a field of " + children + " children");
    }
    if (children > 0 && !CArrayCheck.isStruct(HostMemory.getLong(schema + CHILDREN))) {
      throw misfit(children + " children and no array of them");
    }
  }

  private static ArrowFormatException misfit(String what) {
    return new ArrowFormatException("the schema has " + what);
  }
}
