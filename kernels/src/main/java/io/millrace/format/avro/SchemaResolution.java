// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.format.avro.AvroType.Kind;
import io.millrace.format.record.FieldType;
import io.millrace.format.record.RecordError;
import io.millrace.format.record.RecordField;
import io.millrace.format.record.RecordFields;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes the steps that read records of a writer's schema into fields: what Avro calls schema
 * resolution, with columns in place of a reader's schema.
 */
final class SchemaResolution {
  /** Arrays and maps that may be in each other. */
  static final int MAX_DEPTH = 8;

  private static final AvroType NULL = AvroType.of(Kind.NULL);
  private static final int ELEMENT = 1;
  private static final int NO_CHILD = -1;

  private final RecordFields fields;
  private final List<AvroStep> steps = new ArrayList<>();
  private final List<String> symbols = new ArrayList<>();
  private final Map<Integer, List<AvroProgram>> elements = new HashMap<>();
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
    try {
      return program(fields, id, writer, 0);
    } catch (MismatchException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  // Reads a value of a type into a field.
  private static AvroProgram program(RecordFields fields, int id, AvroType type, int field)
      throws MismatchException {
    SchemaResolution resolution = new SchemaResolution(fields);
    resolution.addValue(type, field);
    resolution.add(AvroStepKind.END, AvroStep.NO_FIELD, 0);
    return new AvroProgram(id, resolution.steps, resolution.symbols, resolution.elements);
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
    boolean[] found = new boolean[parent.children()];
    for (AvroType.Field field : type.fields()) {
      int child = childOf(fields, object, field.name());
      if (child != NO_CHILD) {
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

  // The field of an object; another field has none.
  private static int childOf(RecordFields fields, int object, String name) {
    RecordField parent = fields.get(object);
    for (int i = parent.firstChild(); i < parent.firstChild() + parent.children(); i++) {
      if (fields.get(i).name().equals(name)) {
        return i;
      }
    }
    return NO_CHILD;
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
      case ARRAY, MAP -> addList(type, field);
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
    AvroStepKind kind = ScalarResolution.kind(type, into);
    if (kind == null) {
      throw mismatch(type, field);
    }
    if (kind == AvroStepKind.ENUM) {
      add(AvroStep.ofEnum(field, symbols.size(), type.symbols().size()));
      symbols.addAll(type.symbols());
    } else {
      add(ScalarResolution.step(type, field, into));
    }
  }

  // The elements are passed by with the record, and are read by a program of their own.
  private void addList(AvroType type, int field) throws MismatchException {
    RecordFields inside = fields.get(field).elements();
    boolean isRead =
        inside != null && (type.kind() == Kind.ARRAY || inside.get(1).kind() == FieldType.OBJECT);
    if (!isRead) {
      throw mismatch(type, field);
    }
    List<AvroProgram> programs = elements.computeIfAbsent(field, none -> new ArrayList<>());
    programs.add(program(inside, 0, elementType(type), ELEMENT));
    if (!addBlocks(type, fields, field, field, programs.size() - 1)) {
      throw new MismatchException(
          "the writer's schema has no bytes for the elements of column '"
              + fields.get(field).path()
              + "'");
    }
  }

  private static AvroType elementType(AvroType list) {
    AvroType element = list.fields().get(0).type();
    return list.kind() == Kind.ARRAY
        ? element
        : AvroType.record(
            List.of(
                new AvroType.Field("key", AvroType.of(Kind.STRING)),
                new AvroType.Field("value", element)));
  }

  private void addSkipped(AvroType type) throws MismatchException {
    addPassed(type, null, 0);
  }

  // Passes a value by that is read later, as a part of an element of a list, or that is not read.
  // Which parts of it are read, into `columns`, tells how: blocks that are not go by their bytes.
  private void addPassed(AvroType type, RecordFields columns, int field) throws MismatchException {
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
        for (AvroType.Field child : type.fields()) {
          int index = columns == null ? NO_CHILD : childOf(columns, field, child.name());
          addPassed(child.type(), index == NO_CHILD ? null : columns, index);
        }
      }
      case ARRAY, MAP -> addBlocks(type, columns, field, none, 0);
      case UNION -> addPassedUnion(type, columns, field);
    }
  }

  // Whether elements have bytes.
  private boolean addBlocks(
      AvroType type, RecordFields columns, int field, int listField, int program)
      throws MismatchException {
    if (depth == MAX_DEPTH) {
      throw new MismatchException(
          "the writer's schema has more than " + MAX_DEPTH + " arrays and maps in each other");
    }
    depth++;
    RecordFields inside = columns == null ? null : columns.get(field).elements();
    AvroStep begin = add(AvroStepKind.BLOCKS_BEGIN, listField, program);
    int first = steps.size();
    addPassed(elementType(type), inside, ELEMENT);
    boolean haveBytes = steps.size() > first;
    begin.next = steps.size();
    add(AvroStepKind.BLOCKS_END, listField, haveBytes && inside != null ? 1 : 0).next = first;
    depth--;
    return haveBytes;
  }

  private void addPassedUnion(AvroType union, RecordFields columns, int field)
      throws MismatchException {
    List<AvroType> branches = branches(union);
    int nullBranch = branches.indexOf(NULL);
    if (branches.size() == 2 && nullBranch >= 0) {
      AvroStep optional = add(AvroStepKind.OPTIONAL, AvroStep.NO_FIELD, nullBranch);
      addPassed(branches.get(1 - nullBranch), columns, field);
      optional.next = steps.size();
      return;
    }
    List<AvroStep> ends = new ArrayList<>();
    List<AvroStep> jumps = addJumps(branches.size());
    for (int i = 0; i < jumps.size(); i++) {
      jumps.get(i).next = steps.size();
      addPassed(branches.get(i), columns, field);
      ends.add(add(AvroStepKind.JUMP, AvroStep.NO_FIELD, 0));
    }
    ends.forEach(end -> end.next = steps.size());
  }
}
