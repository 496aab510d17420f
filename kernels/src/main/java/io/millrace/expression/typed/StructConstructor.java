// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import java.util.List;
import java.util.stream.IntStream;

/** A STRUCT of values, never null itself: SQL's {@code ROW(a, b)}. */
@PublicEvolving
public final class StructConstructor extends TypedExpression {

  /**
   * @param type a STRUCT of the types of the values
   */
  public StructConstructor(List<TypedExpression> values, DataType type) {
    super(type, false, values, type);
  }

  /** A struct whose fields are called EXPR$0, EXPR$1 and so on, as in Flink SQL. */
  public static StructConstructor of(List<TypedExpression> values) {
    Field[] fields =
        IntStream.range(0, values.size())
            .mapToObj(i -> new Field("EXPR$" + i, values.get(i).type(), values.get(i).nullable()))
            .toArray(Field[]::new);
    return new StructConstructor(values, DataType.struct(fields));
  }

  @Override
  TypedExpression withOperands(List<TypedExpression> others) {
    return new StructConstructor(others, type());
  }

  @Override
  String toSql(List<String> operandTexts) {
    return "ROW(" + String.join(", ", operandTexts) + ")";
  }
}
