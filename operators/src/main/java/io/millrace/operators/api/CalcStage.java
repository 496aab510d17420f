package io.millrace.operators.api;

import io.millrace.expression.Calc;
import io.millrace.expression.TypedExpression;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Describes a {@link Calc}. */
final class CalcStage {
  private CalcStage() {}

  static Stage of(Calc calc) {
    Set<String> reasons = new LinkedHashSet<>();
    calc.condition().ifPresent(condition -> addReasons(condition, reasons));
    calc.projections().forEach(projection -> addReasons(projection, reasons));
    return new Stage(name(calc), reasons.isEmpty(), List.copyOf(reasons));
  }

  private static String name(Calc calc) {
    List<String> parts = new ArrayList<>();
    calc.condition().ifPresent(condition -> parts.add("where=" + condition));
    parts.add(
        IntStream.range(0, calc.projections().size())
            .mapToObj(i -> projection(calc, i))
            .collect(Collectors.joining(", ", "select=[", "]")));
    return "Calc(" + String.join(", ", parts) + ")";
  }

  private static String projection(Calc calc, int index) {
    String text = calc.projections().get(index).toString();
    String name = calc.outputSchema().field(index).name();
    return text.equals(name) ? name : text + " AS " + name;
  }

  private static void addReasons(TypedExpression expression, Set<String> reasons) {
    if (expression instanceof TypedExpression.Try attempt) {
      addReasons(attempt.call(), reasons);
    } else if (expression instanceof TypedExpression.Call call
        && call.function().device().isEmpty()) {
      reasons.add(call.function().name() + ": " + call.function().hostReason());
    }
    expression.operands().forEach(operand -> addReasons(operand, reasons));
  }
}
