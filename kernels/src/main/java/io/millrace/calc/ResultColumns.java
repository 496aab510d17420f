// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.expression.typed.FieldAccess;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.typed.StructConstructor;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import java.util.ArrayList;
import java.util.List;

/**
 * How the columns of a calc's result are made. Evaluators compute columns. Other columns are passed
 * from the input: all nested columns of it, and without a condition also scalar columns that need
 * no other mask. A passed field of structs that may be null gets the mask of a computed column. A
 * struct that is constructed has columns as its fields, each of which is computed or passed.
 */
final class ResultColumns {
  private final boolean hasCondition;
  private final List<ResultColumn> columns = new ArrayList<>();
  private final List<TypedExpression> computed = new ArrayList<>();
  private final List<InputPath> passed = new ArrayList<>();
  private final List<Field> passedFields = new ArrayList<>();

  /** Makes a column, which the caller closes, from computed columns and passed columns. */
  @FunctionalInterface
  private interface ResultColumn {
    Column make(List<Column> computedColumns, List<Column> passedColumns);
  }

  ResultColumns(List<TypedExpression> projections, boolean hasCondition) {
    this.hasCondition = hasCondition;
    projections.forEach(projection -> columns.add(add(projection)));
  }

  private ResultColumn add(TypedExpression projection) {
    if (projection instanceof StructConstructor constructor) {
      List<ResultColumn> fields = constructor.operands().stream().map(this::add).toList();
      return (computedColumns, passedColumns) -> {
        List<Column> made = make(fields, computedColumns, passedColumns);
        return new Column(projection.type(), made.get(0).size(), 0, null, null, made);
      };
    } else if (!isPassed(projection)) {
      int position = compute(projection);
      return (computedColumns, passedColumns) -> computedColumns.get(position).share();
    }
    int position = pass(projection);
    if (!isInNullable(projection)) {
      return (computedColumns, passedColumns) -> passedColumns.get(position).share();
    }
    int marker = compute(nullMarker(projection));
    return (computedColumns, passedColumns) ->
        withMaskOf(computedColumns.get(marker), passedColumns.get(position));
  }

  private int compute(TypedExpression expression) {
    computed.add(expression);
    return computed.size() - 1;
  }

  /** The position of an input column among the passed columns, each of which is passed once. */
  private int pass(TypedExpression column) {
    InputPath path = InputPath.of(column).orElseThrow();
    if (!passed.contains(path)) {
      passed.add(path);
      passedFields.add(Field.of(String.valueOf(passedFields.size()), column.type()));
    }
    return passed.indexOf(path);
  }

  private boolean isPassed(TypedExpression projection) {
    boolean isScalar = projection.type().id().isScalar();
    return InputPath.of(projection).isPresent()
        && (!isScalar || (!hasCondition && !isInNullable(projection)));
  }

  /** Whether a column is a field of a struct that may be null. */
  private static boolean isInNullable(TypedExpression projection) {
    return projection instanceof FieldAccess access && access.struct().nullable();
  }

  /** A small column that is null where {@code expression} is. */
  private static TypedExpression nullMarker(TypedExpression expression) {
    return new TypedExpression.Case(
        List.of(new TypedExpression.IsNull(expression)),
        List.of(
            new TypedExpression.Literal(null, DataType.INT8),
            new TypedExpression.Literal(0L, DataType.INT8)));
  }

  /** The expressions of the computed columns. */
  List<TypedExpression> computed() {
    return computed;
  }

  /** Whether some columns are passed from the input. */
  boolean passesAny() {
    return !passed.isEmpty();
  }

  /**
   * The columns that are passed from the input, over its memory and with their own masks.
   *
   * @param rows size of the input columns
   */
  Table passed(List<Column> inputColumns, int rows) {
    return Table.of(new Schema(passedFields), rows, i -> passed.get(i).in(inputColumns).share());
  }

  /**
   * The result's columns, which the caller closes, over the memory of the given columns.
   *
   * @param computedColumns the computed columns, maybe followed by others
   * @param passedColumns the columns of {@link #passed}, with the rows of the computed columns
   */
  List<Column> assemble(List<Column> computedColumns, List<Column> passedColumns) {
    return make(columns, computedColumns, passedColumns);
  }

  private static List<Column> make(
      List<ResultColumn> columns, List<Column> computedColumns, List<Column> passedColumns) {
    List<Column> made = new ArrayList<>();
    try {
      for (ResultColumn column : columns) {
        made.add(column.make(computedColumns, passedColumns));
      }
      return made;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      made.forEach(column -> failure.run(column::close));
      throw e;
    }
  }

  /** A nested column over the same memory, with the mask of {@code marker} in place of its own. */
  private static Column withMaskOf(Column marker, Column column) {
    int size = column.size();
    int offset = column.offset();
    List<Column> children = new ArrayList<>();
    for (Column child : column.children()) {
      boolean isOffsets = column.hasOffsets() && children.isEmpty();
      boolean isParallel = column.type().id() == TypeId.STRUCT;
      children.add(
          isOffsets
              ? child.slice(offset, size + 1)
              : isParallel ? child.slice(offset, size) : child.share());
    }
    long width = column.type().id().byteWidth();
    Buffer codes = column.data().map(data -> data.slice(offset * width, size * width)).orElse(null);
    Buffer mask = marker.validity().map(Buffer::share).orElse(null);
    return new Column(column.type(), size, 0, codes, mask, children);
  }
}
