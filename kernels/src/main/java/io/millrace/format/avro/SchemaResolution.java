// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.format.avro.AvroType.Kind;
import io.millrace.format.avro.AvroType.LogicalType;
import io.millrace.format.record.FieldType;
import io.millrace.format.record.RecordError;
import io.millrace.format.record.RecordField;
import io.millrace.format.record.RecordFields;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the steps that read records of a writer's schema into fields: what Avro calls schema
 * resolution, with columns in place of a reader's schema.
 */
final class SchemaResolution {
  /** Arrays and maps that may be in each other. */
  static final int MAX_DEPTH = 8;

  private static final AvroType NULL = AvroType.of(Kind.NULL);
  private static final int NANOS_OF_SECOND_DIGITS = 9;
  private static final int NANOS_OF_MILLI = 1_000_000;
  private static final int NANOS_OF_MICRO = 1_000;

  private final RecordFields fields;
  private final List<AvroStep> steps = new ArrayList<>();
  private final List<String> symbols = new ArrayList<>();
  private int depth;

  /** Values of a type cannot be read into a field. */
  private static final class MismatchException extends Exception {
    private static final long serialVersionUID = 1L;

    MismatchException(String message) {
      super(message);
    }
  }

  private SchemaResolution(RecordFields fields) {
    this.fields = fields;
  }

  /**
   * The program for records of a schema.
   *
   * @param id of the schema; 0 if records name no schema
   * @throws IllegalArgumentException if its records cannot be read into the fields; the message
   *     says why
   */
  static AvroProgram of(RecordFields fields, int id, AvroType writer) {
    SchemaResolution resolution = new SchemaResolution(fields);
    try {
      resolution.addValue(writer, 0);
    } catch (MismatchException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    resolution.add(AvroStepKind.END, AvroStep.NO_FIELD, 0);
    return new AvroProgram(id, resolution.steps, resolution.symbols);
  }

  private AvroStep add(AvroStepKind kind, int field, int size) {
    return add(new AvroStep(kind, field, size));
  }

  private AvroStep add(AvroStep step) {
    steps.add(step);
    return step;
  }

  private void addFields(AvroType type, int object) throws MismatchException {
    RecordField parent = fields.get(object);
    int last = parent.firstChild() + parent.children();
    boolean[] found = new boolean[parent.children()];
    for (AvroType.Field field : type.fields()) {
      int child = parent.firstChild();
      while (child < last && !fields.get(child).name().equals(field.name())) {
        child++;
      }
      if (child < last) {
        found[child - parent.firstChild()] = true;
        addValue(field.type(), child);
      } else {
        addSkipped(field.type());
      }
    }
    for (int i = 0; i < found.length; i++) {
      RecordField child = fields.get(parent.firstChild() + i);
      if (!found[i] && child.isRequired()) {
        throw new MismatchException(
            "column '" + child.path() + "' is NOT NULL, but the writer's schema lacks the field");
      }
    }
  }

  private void addValue(AvroType type, int field) throws MismatchException {
    switch (type.kind()) {
      case UNION -> addUnion(type, field);
      case NULL -> {
        if (fields.get(field).isRequired()) {
          throw mismatch(type, field);
        }
      }
      case RECORD -> {
        if (fields.get(field).kind() != FieldType.OBJECT) {
          throw mismatch(type, field);
        }
        if (field > 0) {
          add(AvroStepKind.RECORD, field, 0);
        }
        addFields(type, field);
      }
      default -> addScalar(type, field);
    }
  }

  private MismatchException mismatch(AvroType type, int field) {
    RecordField into = fields.get(field);
    String name = field == 0 ? "a record" : into.type() + " for column '" + into.path() + "'";
    return new MismatchException("expected " + name + ", the writer's schema has " + type);
  }

  // A null is a step with the field's error, or goes on behind the value.
  private void addUnion(AvroType union, int field) throws MismatchException {
    List<AvroType> branches = branches(union);
    int nullBranch = branches.indexOf(NULL);
    boolean isNullable = field > 0 && !fields.get(field).isRequired();
    if (branches.size() == 2 && nullBranch >= 0 && isNullable) {
      AvroStep optional = add(AvroStepKind.OPTIONAL, field, nullBranch);
      addValue(branches.get(1 - nullBranch), field);
      optional.next = steps.size();
      return;
    }
    List<AvroStep> ends = new ArrayList<>();
    List<AvroStep> jumps = addJumps(branches.size());
    MismatchException failure = null;
    boolean isReadable = false;
    for (int i = 0; i < branches.size(); i++) {
      jumps.get(i).next = steps.size();
      if (i == nullBranch) {
        addNull(field);
      } else {
        int mark = steps.size();
        int outerDepth = depth;
        try {
          addValue(branches.get(i), field);
          isReadable = true;
        } catch (MismatchException e) {
          failure = e;
          steps.subList(mark, steps.size()).clear();
          depth = outerDepth;
          add(AvroStep.failure(field, RecordError.OTHER_BRANCH));
        }
      }
      ends.add(add(AvroStepKind.JUMP, AvroStep.NO_FIELD, 0));
    }
    ends.forEach(end -> end.next = steps.size());
    if (!isReadable && failure != null) {
      throw failure;
    }
  }

  private static List<AvroType> branches(AvroType union) {
    return union.fields().stream().map(AvroType.Field::type).toList();
  }

  private void addNull(int field) {
    if (field == 0) {
      add(AvroStep.failure(0, RecordError.BLANK));
    } else if (fields.get(field).isRequired()) {
      add(AvroStep.failure(field, RecordError.UNEXPECTED_NULL));
    }
  }

  private List<AvroStep> addJumps(int count) {
    add(AvroStepKind.UNION, AvroStep.NO_FIELD, count);
    List<AvroStep> jumps = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      jumps.add(add(AvroStepKind.JUMP, AvroStep.NO_FIELD, 0));
    }
    return jumps;
  }

  private void addScalar(AvroType type, int field) throws MismatchException {
    RecordField into = fields.get(field);
    TypeId id = into.type().id();
    AvroStepKind kind =
        switch (into.kind()) {
          case OBJECT, LIST -> null;
          case BOOL -> type.kind() == Kind.BOOLEAN ? AvroStepKind.BOOLEAN : null;
          case INTEGER -> integerKind(type, id);
          case FLOAT -> floatKind(type, id);
          case DECIMAL -> decimalKind(type, into.type().scale());
          case DATE -> hasMeaning(type, Kind.INT, LogicalType.DATE) ? AvroStepKind.INT : null;
          case TIME -> timeKind(type);
          case TIMESTAMP -> timestampKind(type, id);
          case STRING -> bytesKind(type, id);
        };
    if (kind == null) {
      throw mismatch(type, field);
    }
    if (kind == AvroStepKind.ENUM) {
      add(AvroStep.ofEnum(field, symbols.size(), type.symbols().size()));
      symbols.addAll(type.symbols());
      return;
    }
    AvroStep step = add(kind, field, type.size());
    switch (into.kind()) {
      case DECIMAL -> step.setBound(BigInteger.TEN.pow(into.type().precision()));
      case TIME -> step.divisor = NANOS_OF_MILLI / unitNanos(type, NANOS_OF_MILLI);
      case TIMESTAMP -> convert(step, into.type(), type);
      default -> {}
    }
  }

  private static boolean isPlain(AvroType type) {
    return type.logicalType() == LogicalType.NONE;
  }

  private static boolean hasMeaning(AvroType type, Kind kind, LogicalType logical) {
    return type.kind() == kind && (type.logicalType() == logical || isPlain(type));
  }

  private static AvroStepKind integerKind(AvroType type, TypeId id) {
    return switch (type.kind()) {
      case INT -> AvroStepKind.INT;
      case LONG -> id == TypeId.INT64 ? AvroStepKind.LONG : null;
      default -> null;
    };
  }

  private static AvroStepKind floatKind(AvroType type, TypeId id) {
    return switch (type.kind()) {
      case INT -> AvroStepKind.INT;
      case LONG -> AvroStepKind.LONG;
      case FLOAT -> AvroStepKind.FLOAT;
      case DOUBLE -> id == TypeId.FLOAT64 ? AvroStepKind.DOUBLE : null;
      default -> null;
    };
  }

  private static AvroStepKind decimalKind(AvroType type, int scale) {
    if (type.logicalType() != LogicalType.DECIMAL || type.scale() != scale) {
      return null;
    }
    return type.kind() == Kind.FIXED ? AvroStepKind.FIXED : AvroStepKind.BYTES;
  }

  private static AvroStepKind timeKind(AvroType type) {
    if (hasMeaning(type, Kind.INT, LogicalType.TIME_MILLIS)) {
      return AvroStepKind.INT;
    }
    boolean isMicros = type.kind() == Kind.LONG && type.logicalType() == LogicalType.TIME_MICROS;
    return isMicros ? AvroStepKind.LONG : null;
  }

  private static AvroStepKind timestampKind(AvroType type, TypeId id) {
    boolean hasUnit = type.logicalType().isTimestamp();
    boolean isReadable = hasUnit || (isPlain(type) && id != TypeId.TIMESTAMP_NANOS);
    return type.kind() == Kind.LONG && isReadable ? AvroStepKind.LONG : null;
  }

  private static AvroStepKind bytesKind(AvroType type, TypeId id) {
    boolean isText = id == TypeId.STRING;
    return switch (type.kind()) {
      case STRING, BYTES -> isText ? AvroStepKind.TEXT : AvroStepKind.BYTES;
      case FIXED -> isText ? null : AvroStepKind.FIXED;
      case ENUM -> isText ? AvroStepKind.ENUM : null;
      default -> null;
    };
  }

  private static int unitNanos(AvroType type, int otherwise) {
    return isPlain(type) ? otherwise : type.logicalType().unitNanos();
  }

  // Digits beyond the precision of the column are dropped.
  private static void convert(AvroStep step, DataType type, AvroType writer) {
    int columnUnit = type.id() == TypeId.TIMESTAMP_MILLIS ? NANOS_OF_MILLI : NANOS_OF_MICRO;
    long writerUnit = unitNanos(writer, columnUnit);
    long digit = BigInteger.TEN.pow(NANOS_OF_SECOND_DIGITS - type.precision()).longValueExact();
    step.divisor = Math.max(1, digit / writerUnit);
    long unit = step.divisor * writerUnit;
    if (type.id() == TypeId.TIMESTAMP_NANOS) {
      step.unit = (int) unit;
    } else {
      step.multiplier = unit / columnUnit;
    }
  }

  private void addSkipped(AvroType type) throws MismatchException {
    int none = AvroStep.NO_FIELD;
    switch (type.kind()) {
      case NULL -> {}
      case BOOLEAN -> add(AvroStepKind.FIXED, none, 1);
      case INT, ENUM -> add(AvroStepKind.INT, none, 0);
      case LONG -> add(AvroStepKind.LONG, none, 0);
      case FLOAT -> add(AvroStepKind.FIXED, none, Float.BYTES);
      case DOUBLE -> add(AvroStepKind.FIXED, none, Double.BYTES);
      case BYTES, STRING -> add(AvroStepKind.BYTES, none, 0);
      case FIXED -> {
        if (type.size() > 0) {
          add(AvroStepKind.FIXED, none, type.size());
        }
      }
      case RECORD -> {
        for (AvroType.Field field : type.fields()) {
          addSkipped(field.type());
        }
      }
      case ARRAY, MAP -> addSkippedBlocks(type);
      case UNION -> addSkippedUnion(type);
    }
  }

  private void addSkippedBlocks(AvroType type) throws MismatchException {
    if (depth == MAX_DEPTH) {
      throw new MismatchException(
          "the writer's schema has more than " + MAX_DEPTH + " arrays and maps in each other");
    }
    depth++;
    AvroStep begin = add(AvroStepKind.BLOCKS_BEGIN, AvroStep.NO_FIELD, 0);
    int first = steps.size();
    if (type.kind() == Kind.MAP) {
      add(AvroStepKind.BYTES, AvroStep.NO_FIELD, 0);
    }
    addSkipped(type.fields().get(0).type());
    begin.next = steps.size();
    add(AvroStepKind.BLOCKS_END, AvroStep.NO_FIELD, 0).next = first;
    depth--;
  }

  private void addSkippedUnion(AvroType union) throws MismatchException {
    List<AvroType> branches = branches(union);
    int nullBranch = branches.indexOf(NULL);
    if (branches.size() == 2 && nullBranch >= 0) {
      AvroStep optional = add(AvroStepKind.OPTIONAL, AvroStep.NO_FIELD, nullBranch);
      addSkipped(branches.get(1 - nullBranch));
      optional.next = steps.size();
      return;
    }
    List<AvroStep> ends = new ArrayList<>();
    List<AvroStep> jumps = addJumps(branches.size());
    for (int i = 0; i < jumps.size(); i++) {
      jumps.get(i).next = steps.size();
      addSkipped(branches.get(i));
      ends.add(add(AvroStepKind.JUMP, AvroStep.NO_FIELD, 0));
    }
    ends.forEach(end -> end.next = steps.size());
  }
}
