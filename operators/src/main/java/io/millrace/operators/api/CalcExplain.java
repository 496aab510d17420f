// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.calc.Calc;
import io.millrace.operators.api.ExplainNode.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Describes a {@link Calc}. */
final class CalcExplain {
  private CalcExplain() {}

  static ExplainNode of(Calc calc, ExplainNode input) {
    Place place = calc.isTooLarge() ? Place.HOST : Place.DEVICE;
    return new ExplainNode(name(calc), place, calc.hostReasons(), List.of(input));
  }

  static String name(Calc calc) {
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
}
