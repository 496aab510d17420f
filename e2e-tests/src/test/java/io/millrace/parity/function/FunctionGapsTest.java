// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.function;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.expression.resolve.FunctionRegistry;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlTableFunction;
import org.apache.flink.table.functions.BuiltInFunctionDefinition;
import org.apache.flink.table.functions.BuiltInFunctionDefinitions;
import org.apache.flink.table.functions.FunctionKind;
import org.apache.flink.table.planner.functions.sql.FlinkSqlOperatorTable;
import org.junit.jupiter.api.Test;

/** Expressions have each scalar function of Flink, or a reason why not. */
class FunctionGapsTest {
  private static final FunctionRegistry FUNCTIONS = FunctionRegistry.builtIn();

  private final Set<String> have = new TreeSet<>();
  private final Set<String> missing = new TreeSet<>();

  private void add(String name, String alias) {
    boolean isThere = FUNCTIONS.find(name).isPresent() || FUNCTIONS.find(alias).isPresent();
    (isThere ? have : missing).add(name.toUpperCase(Locale.ROOT).replace(' ', '·'));
  }

  private void addDefinitions() {
    for (BuiltInFunctionDefinition function : BuiltInFunctionDefinitions.getDefinitions()) {
      if (function.getKind() == FunctionKind.SCALAR) {
        String name = function.getName();
        add(function.getSqlName() == null ? name : function.getSqlName(), name);
      }
    }
  }

  private void addOperators() {
    for (SqlOperator operator : FlinkSqlOperatorTable.instance(false).getOperatorList()) {
      if (!operator.isAggregator() && !(operator instanceof SqlTableFunction)) {
        add(operator.getName(), operator.getName());
      }
    }
  }

  @Test
  void eachFunctionOfFlinkIsThereOrAKnownGap() {
    addDefinitions();
    System.out.println(
        "functions of Flink's definitions: " + have.size() + ", not there: " + missing.size());
    addOperators();
    System.out.println("and of its operators: " + have.size() + ", not there: " + missing.size());
    for (KnownGap gap : KnownGap.values()) {
      System.out.println(
          gap.names().size() + " " + gap.reason() + ": " + new TreeSet<>(gap.names()));
    }

    Set<String> known =
        Arrays.stream(KnownGap.values())
            .flatMap(gap -> gap.names().stream())
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(missing).as("functions that are not there").isEqualTo(known);
    assertThat(Arrays.stream(KnownGap.values()).mapToInt(gap -> gap.names().size()).sum())
        .as("each gap has one reason")
        .isEqualTo(known.size());
  }
}
