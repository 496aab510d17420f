// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.parity.FlinkResult.FailedRow;
import io.millrace.testing.CalcResults.RowFailure;
import io.millrace.testing.HostReasons;
import io.millrace.testing.RandomExpressions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.flink.table.types.logical.RowType;

/** The comparisons with Flink and the differences found. */
final class ParityReport {
  private static final int ROWS_SHOWN = 3;

  private final Set<String> functions = new TreeSet<>();
  private final Set<String> deviceFunctions = new TreeSet<>();
  private final List<String> differences = new ArrayList<>();
  private final Schema schema;
  private final List<List<Object>> rows;
  private final ExpressionResolver resolver;
  private final Function<List<Expression>, List<List<Object>>> evaluator;
  private long cases;
  private long failures;

  /**
   * @param rows of {@code schema}, to show the values at which results differ
   * @param resolver of expressions over the rows
   * @param evaluator of expressions over the rows: each one's values
   */
  ParityReport(
      Schema schema,
      List<List<Object>> rows,
      ExpressionResolver resolver,
      Function<List<Expression>, List<List<Object>>> evaluator) {
    this.schema = schema;
    this.rows = rows;
    this.resolver = resolver;
    this.evaluator = evaluator;
  }

  /** Compares type, nullability and each row's value. */
  void compare(Expression expression, List<Object> values, FlinkResult flink) {
    TypedExpression typed = resolver.resolve(expression);
    if (flink.isRefused()) {
      String cause = rootCause(flink.refusal());
      if (!KnownDifferences.admitRefusal(expression, cause)) {
        differences.add(expression + ": Flink refuses it: " + cause);
      }
      return;
    }
    Field type = SchemaConverter.toSchema(RowType.of(flink.type())).field(0);
    Field ours = new Field(type.name(), typed.type(), typed.nullable());
    if (!ours.equals(type)
        && !(KnownDifferences.mayOverflow(typed) && ours.equals(nullable(type)))) {
      differences.add(expression + ": the type is " + ours + ", Flink's " + type);
    }
    if (ours.type().equals(type.type())) {
      compareValues(expression, typed, values, flink.values());
    }
  }

  private void compareValues(
      Expression expression, TypedExpression typed, List<Object> values, List<Object> flinks) {
    List<Integer> different = new ArrayList<>();
    for (int row = 0; row < values.size(); row++) {
      if (!isSame(values.get(row), flinks.get(row))) {
        different.add(row);
      }
      failures += values.get(row) instanceof RowFailure ? 1 : 0;
    }
    if (!different.isEmpty()) {
      KnownDifferences known = new KnownDifferences(expression, resolver, evaluator);
      different.removeIf(row -> known.admit(row, values.get(row), flinks.get(row)));
    }
    cases += values.size();
    Set<String> called = RandomExpressions.functionsOf(expression);
    functions.addAll(called);
    if (HostReasons.of(typed).isEmpty()) {
      deviceFunctions.addAll(called);
    }
    if (!different.isEmpty()) {
      differences.add(
          expression
              + ": "
              + different.size()
              + " of "
              + values.size()
              + " rows differ"
              + different.stream()
                  .limit(ROWS_SHOWN)
                  .map(row -> describe(expression, row, values.get(row), flinks.get(row)))
                  .collect(Collectors.joining()));
    }
  }

  private static Field nullable(Field field) {
    return Field.of(field.name(), field.type());
  }

  private static boolean isSame(Object ours, Object flinks) {
    if (flinks instanceof FailedRow failed && failed.cause() instanceof StackOverflowError) {
      return true;
    }
    return ours instanceof RowFailure ? flinks instanceof FailedRow : Objects.equals(ours, flinks);
  }

  private String describe(Expression expression, int row, Object ours, Object flinks) {
    String text = expression.toString();
    StringBuilder line = new StringBuilder("\n    ");
    for (int i = 0; i < schema.size(); i++) {
      String name = "`" + schema.field(i).name() + "`";
      if (text.contains(name)) {
        line.append(schema.field(i).name()).append('=').append(show(rows.get(row).get(i)));
        line.append(", ");
      }
    }
    return line.append("ours ")
        .append(show(ours))
        .append(", Flink's ")
        .append(show(flinks))
        .toString();
  }

  private static String show(Object value) {
    if (value instanceof RowFailure failure) {
      return "fails: " + failure.message();
    } else if (value instanceof FailedRow failed) {
      return "fails: " + rootCause(failed.cause());
    }
    return value instanceof String ? "'" + value + "'" : String.valueOf(value);
  }

  private static String rootCause(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String message = cause.toString();
    return message.substring(0, Math.min(message.length(), 200));
  }

  /** Each difference, as its expression and the first rows. */
  List<String> differences() {
    return differences;
  }

  /** Names of the functions that were compared, without aliases. */
  Set<String> functions() {
    return functions;
  }

  /** The compared functions that the device has. */
  Set<String> deviceFunctions() {
    return deviceFunctions;
  }

  @Override
  public String toString() {
    Set<String> hostFunctions = new TreeSet<>(functions);
    hostFunctions.removeAll(deviceFunctions);
    return String.join(
        "\n",
        cases + " values compared with Flink, of which " + failures + " fail in both",
        deviceFunctions.size() + " functions on the device: " + String.join(", ", deviceFunctions),
        hostFunctions.size() + " functions on the host: " + String.join(", ", hostFunctions));
  }
}
