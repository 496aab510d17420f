// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** The fields of records, level by level, and their form for kernels. */
@Internal
public final class RecordFields {
  /** The structure {@code RecordField} of record_arguments.cuh. */
  public static final class Layout {
    public static final KernelStructure LAYOUT = new KernelStructure("RecordField");
    public static final KernelStructure.Int32 NAME = LAYOUT.int32("name");
    public static final KernelStructure.Int32 NAME_BYTES = LAYOUT.int32("name_bytes");
    public static final KernelStructure.Int32 HAS_ESCAPES = LAYOUT.int32("has_escapes");
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

  private final List<RecordField> list;
  private final int strings;

  private final boolean areElements;

  private RecordFields(List<RecordField> list, int strings, boolean areElements) {
    this.list = list;
    this.strings = strings;
    this.areElements = areElements;
  }

  private record Open(String path, Field field, int parent) {}

  /**
   * Why records with these columns cannot be read; empty if they can.
   *
   * @param types those that the format reads, with STRUCT if it reads objects
   */
  public static Optional<String> unsupported(Schema schema, Set<TypeId> types) {
    return unsupported(byLevel("", schema.fields(), Set.of()), types);
  }

  private static Optional<String> unsupported(List<Open> fields, Set<TypeId> types) {
    if (fields.size() > MAX_FIELDS) {
      return Optional.of(
          "expected at most " + (MAX_FIELDS - 1) + " fields, got " + (fields.size() - 1));
    }
    return fields.stream().skip(1).flatMap(open -> unsupported(open, types).stream()).findFirst();
  }

  private static Optional<String> unsupported(Open open, Set<TypeId> types) {
    DataType type = open.field.type();
    if (!types.contains(type.id()) || type.isMap()) {
      return Optional.of("field '" + open.path + "' has the type " + type);
    }
    return type.id() == TypeId.LIST
        ? unsupported(byLevel(open.path, type.fields(), Set.of()), types)
        : Optional.empty();
  }

  private static List<Open> byLevel(String path, List<Field> columns, Set<String> texts) {
    List<Open> fields = new ArrayList<>();
    DataType record = DataType.struct(columns.toArray(Field[]::new));
    fields.add(new Open(path, new Field("", record, false), 0));
    for (int i = 0; i < fields.size(); i++) {
      Open open = fields.get(i);
      if (open.field.type().id() == TypeId.STRUCT && !texts.contains(open.field.name())) {
        for (Field child : open.field.type().fields()) {
          String name = open.path.isEmpty() ? child.name() : open.path + "." + child.name();
          fields.add(new Open(name, child, i));
        }
      }
    }
    return fields;
  }

  /**
   * The fields of records with these columns.
   *
   * @param schema for which {@link #unsupported} is empty
   */
  public static RecordFields of(Schema schema) {
    return of(schema, Map.of());
  }

  /**
   * The fields of records with these columns.
   *
   * @param schema for which {@link #unsupported} is empty
   * @param timePrecisions digits behind the second that are kept, by columns of TIME; 3 without an
   *     entry
   */
  public static RecordFields of(Schema schema, Map<String, Integer> timePrecisions) {
    return of(byLevel("", schema.fields(), Set.of()), Set.of(), timePrecisions, false);
  }

  /**
   * The fields of envelopes, some of which are only found, not read: each is a list, of the
   * elements of its array or of the one object that stands there.
   *
   * @param schema for whose columns but these {@link #unsupported} is empty
   * @param texts the names of these: columns of ROW or of ARRAY
   */
  static RecordFields ofEnvelope(Schema schema, Set<String> texts) {
    return of(byLevel("", schema.fields(), texts), texts, Map.of(), false);
  }

  private static RecordFields of(
      List<Open> open,
      Set<String> texts,
      Map<String, Integer> timePrecisions,
      boolean areElements) {
    List<RecordField> fields = new ArrayList<>();
    int strings = 0;
    int nextChild = 1;
    for (Open next : open) {
      boolean isText = texts.contains(next.field.name());
      int timePrecision = timePrecisions.getOrDefault(next.path, RecordField.TIME_PRECISION);
      RecordField field = field(next, nextChild, strings, isText, timePrecision);
      strings += field.hasLengths() ? 1 : 0;
      nextChild += field.children();
      fields.add(field);
    }
    return new RecordFields(List.copyOf(fields), strings, areElements);
  }

  private static RecordField field(
      Open open, int firstChild, int string, boolean isText, int timePrecision) {
    DataType type = open.field.type();
    FieldType kind = isText ? FieldType.LIST : RecordField.kind(type);
    boolean hasElements = kind == FieldType.LIST && !isText;
    return new RecordField(
        open.path,
        type,
        open.field.name(),
        open.field.nullable(),
        open.parent,
        firstChild,
        kind == FieldType.OBJECT ? type.fields().size() : 0,
        kind,
        RecordField.width(type),
        kind == FieldType.TIME ? timePrecision : type.precision(),
        string,
        hasElements
            ? of(byLevel(open.path, type.fields(), Set.of()), Set.of(), Map.of(), true)
            : null);
  }

  /** The number of the field with a name that only one field has. */
  int indexOf(String name) {
    return IntStream.range(0, list.size())
        .filter(i -> list.get(i).name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** A field; the whole record is 0, and the columns begin at 1. */
  public RecordField get(int index) {
    return list.get(index);
  }

  /** Whether an object has a field that may not be missing. */
  public boolean requires(int object) {
    RecordField parent = list.get(object);
    int first = parent.firstChild();
    return list.subList(first, first + parent.children()).stream()
        .anyMatch(RecordField::isRequired);
  }

  /** The number of fields, with the whole record. */
  public int size() {
    return list.size();
  }

  /** The number of fields of strings, bytes or lists. */
  int strings() {
    return strings;
  }

  /**
   * Whether the records are the elements of lists: values of the field 1, which is the only one.
   */
  public boolean areElements() {
    return areElements;
  }

  /** Bytes that {@link #write} writes. */
  public int bytes() {
    return list.size() * Layout.LAYOUT.bytes();
  }

  /** Writes the fields for kernels, without names. */
  void write(long address) {
    HostMemory.fill(address, bytes(), (byte) 0);
    for (int i = 0; i < list.size(); i++) {
      RecordField field = list.get(i);
      put(address, i, Layout.PARENT, field.parent());
      put(address, i, Layout.FIRST_CHILD, field.firstChild());
      put(address, i, Layout.CHILDREN, field.children());
      put(address, i, Layout.TYPE, field.kind().number());
      put(address, i, Layout.WIDTH, field.width());
      put(address, i, Layout.PRECISION, field.precision());
      put(address, i, Layout.SCALE, field.scaleOrFlag());
      put(address, i, Layout.IS_REQUIRED, field.isRequired() ? 1 : 0);
      put(address, i, Layout.STRING, field.string());
    }
  }

  /** Changes a value of a field where {@link #write} wrote the fields. */
  public static void put(long fields, int index, KernelStructure.Int32 what, int value) {
    HostMemory.putInt(fields + (long) index * Layout.LAYOUT.bytes() + what.offset(), value);
  }
}
