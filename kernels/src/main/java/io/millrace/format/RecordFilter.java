// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import java.io.Serializable;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Which rows of records are kept: those whose condition is TRUE. The others are dropped before
 * their strings are copied. All columns of the schema are returned, also those that only the
 * condition reads. A record that is malformed is told, whatever its condition is.
 *
 * @param condition reads columns of fixed width and cannot fail
 * @param settings with which the condition is resolved
 * @param unfiltered columns whose values are also needed of the rows that are dropped: {@link
 *     ParsedRecords#unfiltered}
 */
@PublicEvolving
public record RecordFilter(
    Expression condition, ExpressionSettings settings, List<String> unfiltered)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  public RecordFilter {
    Objects.requireNonNull(condition, "condition is null");
    Objects.requireNonNull(settings, "settings are null");
    unfiltered = List.copyOf(unfiltered);
  }

  /** Keeps the rows for which a condition is TRUE. */
  public static RecordFilter of(Expression condition, ExpressionSettings settings) {
    return new RecordFilter(condition, settings, List.of());
  }

  /** The same filter, with the columns whose values are also needed of the dropped rows. */
  public RecordFilter withUnfiltered(List<String> columns) {
    return new RecordFilter(condition, settings, columns);
  }

  /** Why rows with these columns cannot be filtered; empty if they can. */
  public Optional<String> unsupported(Schema schema) {
    Set<TypedExpression> nodes;
    try {
      nodes = resolve(schema).nodes();
    } catch (ExpressionException e) {
      return Optional.of(e.getMessage());
    }
    boolean canFail =
        nodes.stream()
            .anyMatch(
                node ->
                    node instanceof TypedExpression.Call call
                        && call.function().outcome() == BoundFunction.Outcome.FAILING);
    if (canFail) {
      return Optional.of("the condition can fail for a row: " + condition);
    }
    List<String> read = columnsRead(schema);
    if (read.isEmpty()) {
      return Optional.of("the condition reads no column: " + condition);
    }
    return read.stream()
        .filter(name -> !isFixedWidth(schema.type(schema.indexOf(name)).id()))
        .findFirst()
        .map(
            name ->
                "expected columns of fixed width in the condition, '"
                    + name
                    + "' is "
                    + schema.type(schema.indexOf(name)));
  }

  private static boolean isFixedWidth(TypeId type) {
    return switch (type) {
      case STRING, BINARY, LIST, STRUCT, DICTIONARY -> false;
      default -> true;
    };
  }

  private TypedExpression resolve(Schema schema) {
    return new ExpressionResolver(schema, settings.context()).resolveCondition(condition);
  }

  /** The columns that the condition reads, in the order of the schema. */
  public List<String> columnsRead(Schema schema) {
    Set<TypedExpression> nodes = resolve(schema).nodes();
    return schema.names().stream()
        .filter(
            name ->
                nodes.stream()
                    .anyMatch(
                        node ->
                            node instanceof TypedExpression.InputReference column
                                && column.name().equals(name)))
        .toList();
  }
}
