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
import io.millrace.expression.typed.TypedExpression;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import java.util.ArrayList;
import java.util.List;

/**
 * How the columns of a calc's result are made. Evaluators compute scalar columns. Other columns are
 * passed from the input: all nested columns, and without a condition also scalar columns that need
 * no other mask. A passed field of structs that may be null gets the mask of a computed column.
 */
final class ResultColumns {
  private final boolean hasCondition;
  private final List<ResultColumn> columns = new ArrayList<>();
  private final List<TypedExpression> computed = new ArrayList<>();
  private final List<InputPath> passed = new ArrayList<>();
  private final List<Field> passedFields = new ArrayList<>();

  /**
   * @param computed position of a computed column, or of the computed column whose mask a passed
   *     column gets; -1 for a passed column with its own mask
   * @param passed position of a passed column; -1 for a computed column
   */
  private record ResultColumn(int computed, int passed) {}

  ResultColumns(List<TypedExpression> projections, boolean hasCondition) {
    this.hasCondition = hasCondition;
    projections.forEach(projection -> columns.add(add(projection)));
  }

  private ResultColumn add(TypedExpression projection) {
    if (!isPassed(projection)) {
      computed.add(projection);
      return new ResultColumn(computed.size() - 1, -1);
    }
    int position = pass(projection);
    if (!isInNullable(projection)) {
      return new ResultColumn(-1, position);
    }
    computed.add(nullMarker(projection));
    return new ResultColumn(computed.size() - 1, position);
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
    List<Column> result = new ArrayList<>();
    try {
      for (ResultColumn column : columns) {
        if (column.passed() < 0) {
          result.add(computedColumns.get(column.computed()).share());
        } else if (column.computed() < 0) {
          result.add(passedColumns.get(column.passed()).share());
        } else {
          Column marker = computedColumns.get(column.computed());
          result.add(withMaskOf(marker, passedColumns.get(column.passed())));
        }
      }
      return result;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      result.forEach(column -> failure.run(column::close));
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
