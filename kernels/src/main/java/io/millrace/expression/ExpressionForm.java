// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.typed.PostOrder;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * An expression as a list of nodes in which operands precede the nodes that use them. Comparison,
 * hashing and Java serialization use this list and therefore need no recursion. Equal nodes occur
 * once.
 *
 * @param parts the nodes; the last one is the root
 */
@Internal
public record ExpressionForm(List<ExpressionPart> parts) implements Serializable {
  private static final long serialVersionUID = 1L;

  static ExpressionForm of(Expression expression) {
    IdentityHashMap<Expression, Integer> known = new IdentityHashMap<>();
    Map<ExpressionPart, Integer> numbers = new HashMap<>();
    List<ExpressionPart> parts = new ArrayList<>();
    PostOrder.visit(
        expression,
        ExpressionForm::operands,
        known::containsKey,
        node -> {
          List<Integer> ofNode = new ArrayList<>();
          operands(node).forEach(operand -> ofNode.add(known.get(operand)));
          ExpressionPart part = part(node, ofNode);
          Integer number = numbers.putIfAbsent(part, parts.size());
          if (number == null) {
            parts.add(part);
          }
          known.put(node, number == null ? parts.size() - 1 : number);
        });
    return new ExpressionForm(new ArrayList<>(parts));
  }

  /** The operands of an expression, in the order in which they are written. */
  public static List<Expression> operands(Expression expression) {
    if (expression instanceof Expression.Call call) {
      return call.arguments();
    } else if (expression instanceof Expression.Cast cast) {
      return List.of(cast.operand());
    } else if (expression instanceof Expression.Case branches) {
      return Stream.concat(branches.conditions().stream(), branches.results().stream()).toList();
    } else if (expression instanceof Expression.FieldAccess access) {
      return List.of(access.row());
    } else if (expression instanceof Expression.Alias alias) {
      return List.of(alias.operand());
    }
    return List.of();
  }

  private static ExpressionPart part(Expression expression, List<Integer> operands) {
    if (expression instanceof Expression.ColumnReference reference) {
      return part(ExpressionPart.Kind.COLUMN, operands, reference.name());
    } else if (expression instanceof Expression.Literal literal) {
      return part(ExpressionPart.Kind.LITERAL, operands, literal.value(), literal.type());
    } else if (expression instanceof Expression.Call call) {
      return part(ExpressionPart.Kind.CALL, operands, call.function());
    } else if (expression instanceof Expression.Cast cast) {
      return part(ExpressionPart.Kind.CAST, operands, cast.type(), cast.orNull());
    } else if (expression instanceof Expression.FieldAccess access) {
      return part(ExpressionPart.Kind.FIELD_ACCESS, operands, access.name());
    } else if (expression instanceof Expression.Alias alias) {
      return part(ExpressionPart.Kind.ALIAS, operands, alias.name());
    }
    return part(ExpressionPart.Kind.CASE, operands);
  }

  private static ExpressionPart part(
      ExpressionPart.Kind kind, List<Integer> operands, Serializable... properties) {
    return new ExpressionPart(kind, new ArrayList<>(Arrays.asList(properties)), operands);
  }

  /** The expression as SQL, truncated by {@link io.millrace.expression.typed.SqlText#cut}. */
  @Override
  public String toString() {
    return ExpressionText.of(parts);
  }

  /** Rebuilds the expression after deserialization. */
  private Object readResolve() {
    List<Expression> expressions = new ArrayList<>(parts.size());
    for (ExpressionPart part : parts) {
      List<Expression> operands = part.operands().stream().map(expressions::get).toList();
      expressions.add(expression(part.kind(), part.properties(), operands));
    }
    return expressions.get(expressions.size() - 1);
  }

  private static Expression expression(
      ExpressionPart.Kind kind, List<Serializable> properties, List<Expression> operands) {
    return switch (kind) {
      case COLUMN -> new Expression.ColumnReference((String) properties.get(0));
      case LITERAL -> new Expression.Literal(properties.get(0), (DataType) properties.get(1));
      case CALL -> new Expression.Call((String) properties.get(0), operands);
      case CAST ->
          new Expression.Cast(
              operands.get(0), (DataType) properties.get(0), (Boolean) properties.get(1));
      case CASE -> {
        int conditions = operands.size() / 2;
        yield new Expression.Case(
            operands.subList(0, conditions), operands.subList(conditions, operands.size()));
      }
      case FIELD_ACCESS -> new Expression.FieldAccess(operands.get(0), (String) properties.get(0));
      case ALIAS -> new Expression.Alias(operands.get(0), (String) properties.get(0));
    };
  }
}
