// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.function;

import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.operators.sql.planner.NodeKinds;
import io.millrace.operators.sql.planner.aggregate.AggregateCalls;
import io.millrace.operators.sql.planner.node.KeptKinds;
import io.millrace.testing.ExampleCalls;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The page of what Millrace supports of Flink SQL, generated from the code. */
final class SqlSupportPage {
  private static final String ON_DEVICE = "device";
  private static final FunctionRegistry FUNCTIONS = FunctionRegistry.builtIn();
  private static final ResolutionContext CONTEXT = ResolutionContext.DEFAULT.withBatch();

  // Functions with a syntax of their own, which expressions have without a definition.
  private static final Set<KnownGap> HAVE_OTHER_FORMS =
      EnumSet.of(KnownGap.OTHER_NAME, KnownGap.BITMAPS);

  private SqlSupportPage() {}

  static String text() {
    StringBuilder page = new StringBuilder();
    page.append(
        "<!-- Made from the code by `mvn test -pl e2e-tests -am -Dtest=SqlSupportTest"
            + " -Dsurefire.failIfNoSpecifiedTests=false -Dmillrace.reference=write`. -->\n");
    page.append("# What Flink SQL runs on batches\n\n");
    page.append(
        "How to turn it on, and how EXPLAIN shows it, is in [sql.md](sql.md). All of this is of"
            + " Flink 2.3.\n");
    appendNodes(page);
    appendScalarFunctions(page);
    appendAggregateFunctions(page);
    return page.toString();
  }

  private static void appendNodes(StringBuilder page) {
    page.append("\n## Nodes that are replaced\n\n| node | replaced if |\n|---|---|\n");
    NodeKinds.replaced().forEach((kind, condition) -> appendRow(page, kind, condition));
    page.append(
        "\n## Nodes that stay Flink's\n\nTheir rows become batches where a node of Millrace's takes"
            + " them.\n\n| node | because |\n|---|---|\n");
    KeptKinds.reasons().forEach((kind, reason) -> appendRow(page, kind, reason));
  }

  private static void appendScalarFunctions(StringBuilder page) {
    page.append(
        "\n## Scalar functions\n\nFunctions of the host get copies of the columns that they read,"
            + " and the rest of their Calc runs on the device. A Calc with a function that has no"
            + " form stays Flink's. [The reference](functions/README.md) has the types of arguments, and the"
            + " differences.\n\n| function | runs on |\n|---|---|\n");
    FlinkFunctions.scalar().forEach((name, alias) -> appendRow(page, name, where(name, alias)));
  }

  private static String where(String name, String alias) {
    Optional<FunctionDefinition> function =
        FUNCTIONS.find(name.replace('·', ' ')).or(() -> FUNCTIONS.find(alias));
    if (function.isPresent()) {
      return ExampleCalls.runsOnDevice(function.get(), CONTEXT) ? ON_DEVICE : "host";
    }
    KnownGap gap =
        Arrays.stream(KnownGap.values())
            .filter(each -> each.names().contains(name))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(name + " has no reason"));
    return HAVE_OTHER_FORMS.contains(gap) ? gap.reason() : "none: it " + gap.reason();
  }

  private static void appendAggregateFunctions(StringBuilder page) {
    page.append(
        "\n## Aggregate functions\n\n[Group aggregates](group-aggregate.md) and"
            + " [windows](windows.md) say which of them take changes back, and which two phases"
            + " combine.\n\n| function | runs on |\n|---|---|\n");
    for (String name : FlinkFunctions.aggregate()) {
      appendRow(
          page, name, AggregateCalls.names().contains(name) ? ON_DEVICE : "none: it " + gap(name));
    }
  }

  private static String gap(String name) {
    return Arrays.stream(AggregateGap.values())
        .filter(gap -> gap.names().contains(name))
        .map(AggregateGap::reason)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException(name + " has no reason"));
  }

  private static void appendRow(StringBuilder page, String name, String text) {
    List<String> cells =
        List.of("`" + name.replace('·', ' ').replace("|", "\\|") + "`", text.replace("|", "\\|"));
    page.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }
}
