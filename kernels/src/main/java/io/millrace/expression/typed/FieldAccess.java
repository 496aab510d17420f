// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType.Field;
import java.util.List;

/** A field of a STRUCT; null if the struct is null. */
@PublicEvolving
public final class FieldAccess extends TypedExpression {
  private final int index;

  private FieldAccess(TypedExpression struct, int index) {
    super(
        field(struct, index).type(),
        struct.nullable() || field(struct, index).nullable(),
        List.of(struct),
        index);
    this.index = index;
  }

  /** The field at {@code index} of {@code struct}. */
  public static TypedExpression of(TypedExpression struct, int index) {
    return struct instanceof StructConstructor constructor
        ? constructor.operands().get(index)
        : new FieldAccess(struct, index);
  }

  private static Field field(TypedExpression struct, int index) {
    return struct.type().fields().get(index);
  }

  /** The expression whose value has the field. */
  public TypedExpression struct() {
    return operands().get(0);
  }

  /** The position of the field in its struct. */
  public int index() {
    return index;
  }

  /** The name, the type and the nullability of the field in a struct that is not null. */
  public Field field() {
    return field(struct(), index);
  }

  @Override
  TypedExpression withOperands(List<TypedExpression> others) {
    return of(others.get(0), index);
  }

  @Override
  String toSql(List<String> operandTexts) {
    return operandTexts.get(0) + "." + field().name();
  }
}
