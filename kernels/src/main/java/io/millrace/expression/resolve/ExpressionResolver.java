// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.ExpressionForm;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.FieldAccess;
import io.millrace.expression.typed.PostOrder;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.ValueNumbering;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Assigns types to expressions against one schema. An expression object that occurs several times
 * resolves to one object. Not thread-safe.
 */
@PublicEvolving
public final class ExpressionResolver {
  private static final int MAX_LISTED = 6;

  private final Schema schema;
  private final ResolutionContext context;
  private final BindingContext binding;
  private final IdentityHashMap<Expression, TypedExpression> known = new IdentityHashMap<>();
  private final ValueNumbering values = new ValueNumbering();
  // Field indexes by name.
  private final Map<String, Integer> indices = new LinkedHashMap<>();

  public ExpressionResolver(Schema schema, ResolutionContext context) {
    this.schema = schema;
    this.context = context;
    this.binding = new CallNumbers(context);
    for (Field field : schema.fields()) {
      indices.put(field.name(), indices.size());
    }
  }

  /**
   * Resolves an expression.
   *
   * @throws ExpressionException if a column or function does not exist (the message suggests the
   *     nearest name), types do not fit, or conditions are nested more than {@value
   *     TypedExpression#MAX_NESTED} levels deep
   */
  public TypedExpression resolve(Expression expression) {
    return values.share(typed(expression));
  }

  private TypedExpression typed(Expression expression) {
    // Leaves are not remembered because there may be many; expressions that use them share equal
    // ones.
    if (expression instanceof Expression.Literal literal) {
      return new TypedExpression.Literal(literal.value(), literal.type());
    }
    if (!known.containsKey(expression)) {
      PostOrder.visit(
          expression,
          ExpressionForm::operands,
          node -> node instanceof Expression.Literal || known.containsKey(node),
          node -> known.put(node, isFlat(node) ? bind(node) : values.share(bind(node))));
    }
    return known.get(expression);
  }

  // Comparing flat expressions is cheap, and there may be many of them, few of which are kept.
  private static boolean isFlat(Expression expression) {
    boolean isFlat = expression instanceof Expression.Call;
    if (isFlat) {
      for (Expression argument : ((Expression.Call) expression).arguments()) {
        isFlat &=
            argument instanceof Expression.ColumnReference
                || argument instanceof Expression.Literal;
      }
    }
    return isFlat;
  }

  private TypedExpression bind(Expression expression) {
    if (expression instanceof Expression.ColumnReference reference) {
      return column(reference.name());
    } else if (expression instanceof Expression.FieldAccess access) {
      return field(typed(access.row()), access.name());
    } else if (expression instanceof Expression.Alias alias) {
      return typed(alias.operand());
    } else if (expression instanceof Expression.Cast cast) {
      return cast(cast);
    } else if (expression instanceof Expression.Case branches) {
      return branches(branches);
    }
    return call((Expression.Call) expression);
  }

  /**
   * Resolves the condition of a filter.
   *
   * @throws ExpressionException as {@link #resolve}, and if the type is not BOOLEAN
   */
  public TypedExpression resolveCondition(Expression expression) {
    return values.share(typedCondition(expression));
  }

  private TypedExpression typedCondition(Expression expression) {
    TypedExpression condition = typed(expression);
    if (condition.type().id() != TypeId.BOOL) {
      throw new ExpressionException(
          "a condition is BOOLEAN, but " + expression + " is " + condition.type());
    }
    return condition;
  }

  /**
   * The output column name of an expression: its alias, the name of its column or field, or its SQL
   * text.
   */
  public static String nameOf(Expression expression) {
    if (expression instanceof Expression.Alias alias) {
      return alias.name();
    } else if (expression instanceof Expression.FieldAccess access) {
      return access.name();
    }
    return expression instanceof Expression.ColumnReference reference
        ? reference.name()
        : expression.toString();
  }

  private TypedExpression column(String name) {
    Integer index = indices.get(name);
    if (index == null) {
      throw ExpressionException.unknownColumn(name, List.copyOf(indices.keySet()));
    }
    Field field = schema.field(index);
    return new TypedExpression.InputReference(index, name, field.type(), field.nullable());
  }

  private static TypedExpression field(TypedExpression row, String name) {
    if (row.type().id() != TypeId.STRUCT) {
      throw new ExpressionException(
          "expected a ROW to read the field '" + name + "' of, got " + row + " " + row.type());
    }
    List<String> names = row.type().fields().stream().map(Field::name).toList();
    if (!names.contains(name)) {
      throw ExpressionException.unknownField(name, row.toString(), names);
    }
    return FieldAccess.of(row, names.indexOf(name));
  }

  private TypedExpression cast(Expression.Cast cast) {
    TypedExpression operand = typed(cast.operand());
    TypedExpression result = Coercion.cast(operand, cast.type(), binding);
    return cast.orNull() ? orNull(operand, result) : result;
  }

  /** TRY_CAST is nullable even if the cast cannot fail. */
  private static TypedExpression orNull(TypedExpression operand, TypedExpression result) {
    boolean canFail =
        !result.equals(operand)
            && result instanceof TypedExpression.Call call
            && call.function().outcome() == BoundFunction.Outcome.FAILING;
    if (canFail) {
      return new TypedExpression.Try((TypedExpression.Call) result);
    }
    return result.nullable() ? result : new TypedExpression.Case(List.of(), List.of(result), true);
  }

  private TypedExpression branches(Expression.Case branches) {
    List<TypedExpression> conditions = new ArrayList<>();
    for (Expression condition : branches.conditions()) {
      conditions.add(typedCondition(condition));
    }
    List<TypedExpression> results = resolveAll(branches.results());
    try {
      return Coercion.caseOf(conditions, results, binding);
    } catch (ExpressionException e) {
      throw new ExpressionException(branches + ": " + e.getMessage());
    }
  }

  private TypedExpression call(Expression.Call call) {
    FunctionDefinition function = context.functions().function(call.function());
    List<TypedExpression> arguments = resolveAll(call.arguments());
    try {
      return function.bind(arguments, binding);
    } catch (ExpressionException e) {
      throw new ExpressionException(message(call, function, arguments, e));
    }
  }

  private List<TypedExpression> resolveAll(List<Expression> expressions) {
    List<TypedExpression> resolved = new ArrayList<>(expressions.size());
    for (Expression expression : expressions) {
      resolved.add(typed(expression));
    }
    return resolved;
  }

  private static String message(
      Expression.Call call,
      FunctionDefinition function,
      List<TypedExpression> arguments,
      ExpressionException cause) {
    String types =
        arguments.stream()
            .map(argument -> argument.type().toString())
            .collect(Collectors.joining(", "));
    String taken =
        Stream.concat(
                function.signatures().stream().limit(MAX_LISTED).map(Signature::toString),
                function.signatures().size() > MAX_LISTED ? Stream.of("...") : Stream.empty())
            .collect(Collectors.joining(" or "));
    return call
        + ": "
        + cause.getMessage()
        + "; "
        + function.name()
        + " takes "
        + taken
        + ", not ("
        + types
        + ")";
  }
}
