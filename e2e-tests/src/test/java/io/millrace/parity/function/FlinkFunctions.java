// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.function;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlTableFunction;
import org.apache.flink.table.functions.BuiltInFunctionDefinition;
import org.apache.flink.table.functions.BuiltInFunctionDefinitions;
import org.apache.flink.table.functions.FunctionKind;
import org.apache.flink.table.planner.functions.sql.FlinkSqlOperatorTable;

/** The names of Flink's functions, in upper case and with {@code ·} for a space. */
final class FlinkFunctions {
  private FlinkFunctions() {}

  /** The scalar functions: the other name that Flink has for each, which may be the same. */
  static Map<String, String> scalar() {
    Map<String, String> functions = ofDefinitions(FunctionKind.SCALAR);
    for (SqlOperator operator : FlinkSqlOperatorTable.instance(false).getOperatorList()) {
      if (!operator.isAggregator() && !(operator instanceof SqlTableFunction)) {
        functions.putIfAbsent(name(operator.getName()), operator.getName());
      }
    }
    return functions;
  }

  /** The aggregate functions. */
  static Set<String> aggregate() {
    Set<String> functions = new TreeSet<>(ofDefinitions(FunctionKind.AGGREGATE).keySet());
    for (SqlOperator operator : FlinkSqlOperatorTable.instance(false).getOperatorList()) {
      if (operator.isAggregator()) {
        functions.add(name(operator.getName()));
      }
    }
    return functions;
  }

  private static Map<String, String> ofDefinitions(FunctionKind kind) {
    Map<String, String> functions = new TreeMap<>();
    for (BuiltInFunctionDefinition function : BuiltInFunctionDefinitions.getDefinitions()) {
      if (function.getKind() == kind) {
        String name = function.getName();
        functions.put(name(function.getSqlName() == null ? name : function.getSqlName()), name);
      }
    }
    return functions;
  }

  private static String name(String name) {
    return name.toUpperCase(Locale.ROOT).replace(' ', '·');
  }
}
