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
 * An expression as the list of its parts, operands before what uses them: comparing, hashing and
 * Java's serialization go through it without recursion. Equal parts are one.
 *
 * @param parts the last one is the expression
 */
@Internal
public record ExpressionForm(List<Part> parts) implements Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * A part of an expression.
   *
   * @param properties what it has beside operands, in the order of the record's components
   * @param operands by their index in the list
   */
  record Part(Kind kind, List<Serializable> properties, List<Integer> operands)
      implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  private enum Kind {
    COLUMN,
    LITERAL,
    CALL,
    CAST,
    CASE,
    ALIAS
  }

  static ExpressionForm of(Expression expression) {
    IdentityHashMap<Expression, Integer> known = new IdentityHashMap<>();
    Map<Part, Integer> numbers = new HashMap<>();
    List<Part> parts = new ArrayList<>();
    PostOrder.visit(
        expression,
        ExpressionForm::operands,
        known::containsKey,
        node -> {
          List<Integer> ofNode = new ArrayList<>();
          operands(node).forEach(operand -> ofNode.add(known.get(operand)));
          Part part = part(node, ofNode);
          Integer number = numbers.putIfAbsent(part, parts.size());
          if (number == null) {
            parts.add(part);
          }
          known.put(node, number == null ? parts.size() - 1 : number);
        });
    return new ExpressionForm(new ArrayList<>(parts));
  }

  /** What an expression is made of, in the order it is written. */
  public static List<Expression> operands(Expression expression) {
    if (expression instanceof Expression.Call call) {
      return call.arguments();
    } else if (expression instanceof Expression.Cast cast) {
      return List.of(cast.operand());
    } else if (expression instanceof Expression.Case branches) {
      return Stream.concat(branches.conditions().stream(), branches.results().stream()).toList();
    } else if (expression instanceof Expression.Alias alias) {
      return List.of(alias.operand());
    }
    return List.of();
  }

  private static Part part(Expression expression, List<Integer> operands) {
    if (expression instanceof Expression.ColumnReference reference) {
      return part(Kind.COLUMN, operands, reference.name());
    } else if (expression instanceof Expression.Literal literal) {
      return part(Kind.LITERAL, operands, literal.value(), literal.type());
    } else if (expression instanceof Expression.Call call) {
      return part(Kind.CALL, operands, call.function());
    } else if (expression instanceof Expression.Cast cast) {
      return part(Kind.CAST, operands, cast.type(), cast.orNull());
    } else if (expression instanceof Expression.Alias alias) {
      return part(Kind.ALIAS, operands, alias.name());
    }
    return part(Kind.CASE, operands);
  }

  private static Part part(Kind kind, List<Integer> operands, Serializable... properties) {
    return new Part(kind, new ArrayList<>(Arrays.asList(properties)), operands);
  }

  /** The expression. */
  private Object readResolve() {
    List<Expression> expressions = new ArrayList<>(parts.size());
    for (Part part : parts) {
      List<Expression> operands = part.operands().stream().map(expressions::get).toList();
      expressions.add(expression(part.kind(), part.properties(), operands));
    }
    return expressions.get(expressions.size() - 1);
  }

  private static Expression expression(
      Kind kind, List<Serializable> properties, List<Expression> operands) {
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
      case ALIAS -> new Expression.Alias(operands.get(0), (String) properties.get(0));
    };
  }
}
