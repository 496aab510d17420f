// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The fields of records, level by level, and their form for kernels. */
final class JsonFields {
  /** The structure {@code JsonField} of json_arguments.cuh. */
  static final class Layout {
    static final KernelStructure LAYOUT = new KernelStructure("JsonField");
    static final KernelStructure.Int32 NAME = LAYOUT.int32("name");
    static final KernelStructure.Int32 NAME_BYTES = LAYOUT.int32("name_bytes");
    static final KernelStructure.Int32 HAS_ESCAPES = LAYOUT.int32("has_escapes");
    static final KernelStructure.Int32 PARENT = LAYOUT.int32("parent");
    static final KernelStructure.Int32 FIRST_CHILD = LAYOUT.int32("first_child");
    static final KernelStructure.Int32 CHILDREN = LAYOUT.int32("children");
    static final KernelStructure.Int32 TYPE = LAYOUT.int32("type");
    static final KernelStructure.Int32 WIDTH = LAYOUT.int32("width");
    static final KernelStructure.Int32 PRECISION = LAYOUT.int32("precision");
    static final KernelStructure.Int32 SCALE = LAYOUT.int32("scale");
    static final KernelStructure.Int32 IS_REQUIRED = LAYOUT.int32("is_required");
    static final KernelStructure.Int32 STRING = LAYOUT.int32("string");

    private Layout() {}
  }

  /** The most fields of records, with one for the whole record. */
  static final int MAX_FIELDS = 128;

  private final List<JsonField> list;
  private final int strings;

  private JsonFields(List<JsonField> list, int strings) {
    this.list = list;
    this.strings = strings;
  }

  private record Open(String path, Field field, int parent) {}

  /** Why records with these columns cannot be read; empty if they can. */
  static Optional<String> unsupported(Schema schema) {
    List<Open> fields = byLevel(schema);
    if (fields.size() > MAX_FIELDS) {
      return Optional.of(
          "expected at most " + (MAX_FIELDS - 1) + " fields, got " + (fields.size() - 1));
    }
    return fields.stream()
        .filter(open -> JsonField.kind(open.field.type()) == null)
        .findFirst()
        .map(open -> "field '" + open.path + "' has the type " + open.field.type());
  }

  /**
   * @throws IllegalArgumentException if {@link #unsupported} says why
   */
  static void check(Schema schema) {
    unsupported(schema)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException("JSON cannot be read into columns: " + why);
            });
  }

  private static List<Open> byLevel(Schema schema) {
    List<Open> fields = new ArrayList<>();
    DataType record = DataType.struct(schema.fields().toArray(Field[]::new));
    fields.add(new Open("", new Field("", record, false), 0));
    for (int i = 0; i < fields.size(); i++) {
      Open open = fields.get(i);
      if (JsonField.kind(open.field.type()) == JsonType.OBJECT) {
        for (Field child : open.field.type().fields()) {
          String path = open.path.isEmpty() ? child.name() : open.path + "." + child.name();
          fields.add(new Open(path, child, i));
        }
      }
    }
    return fields;
  }

  /**
   * @throws IllegalArgumentException if a field has a type that cannot be read, or there are too
   *     many
   */
  static JsonFields of(Schema schema) {
    check(schema);
    List<JsonField> fields = new ArrayList<>();
    int strings = 0;
    int nextChild = 1;
    for (Open open : byLevel(schema)) {
      DataType type = open.field.type();
      JsonType kind = JsonField.kind(type);
      int children = kind == JsonType.OBJECT ? type.fields().size() : 0;
      fields.add(
          new JsonField(
              open.path,
              type,
              new JsonName(open.field.name()),
              open.field.nullable(),
              open.parent,
              nextChild,
              children,
              kind,
              JsonField.width(type),
              kind == JsonType.STRING ? strings++ : 0));
      nextChild += children;
    }
    return new JsonFields(List.copyOf(fields), strings);
  }

  JsonField get(int index) {
    return list.get(index);
  }

  /** Whether an object has a field that may not be missing. */
  boolean requires(int object) {
    JsonField parent = list.get(object);
    int first = parent.firstChild();
    return list.subList(first, first + parent.children()).stream().anyMatch(JsonField::isRequired);
  }

  int size() {
    return list.size();
  }

  /** The number of string fields. */
  int strings() {
    return strings;
  }

  /** Bytes of the fields and their names. */
  int bytes() {
    return list.size() * Layout.LAYOUT.bytes()
        + list.stream().mapToInt(field -> field.name().wordBytes()).sum();
  }

  /** Writes the fields, and their names behind them. */
  void write(long address) {
    int name = list.size() * Layout.LAYOUT.bytes();
    for (int i = 0; i < list.size(); i++) {
      JsonField field = list.get(i);
      long target = address + (long) i * Layout.LAYOUT.bytes();
      put(target, Layout.NAME, name);
      put(target, Layout.NAME_BYTES, field.name().bytes());
      put(target, Layout.HAS_ESCAPES, field.name().hasEscapes() ? 1 : 0);
      put(target, Layout.PARENT, field.parent());
      put(target, Layout.FIRST_CHILD, field.firstChild());
      put(target, Layout.CHILDREN, field.children());
      put(target, Layout.TYPE, field.kind().number());
      put(target, Layout.WIDTH, field.width());
      put(target, Layout.PRECISION, field.type().precision());
      put(target, Layout.SCALE, field.scaleOrZone());
      put(target, Layout.IS_REQUIRED, field.isRequired() ? 1 : 0);
      put(target, Layout.STRING, field.string());
      field.name().write(address + name);
      name += field.name().wordBytes();
    }
  }

  private static void put(long target, KernelStructure.Int32 field, int value) {
    HostMemory.putInt(target + field.offset(), value);
  }
}
