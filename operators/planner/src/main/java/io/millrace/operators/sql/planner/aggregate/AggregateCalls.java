// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.expression.Expression;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.sql.validate.SqlUserDefinedAggFunction;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.planner.functions.bridging.BridgingSqlAggFunction;

/** The planner's aggregate calls as aggregates over columns. */
@Internal
public final class AggregateCalls {
  private static final String LISTAGG = "LISTAGG";

  private AggregateCalls() {}

  /**
   * The aggregates that {@code calls} are.
   *
   * @param columns gives the column for a position in the input of the calls
   * @param texts the positions whose columns are constant texts
   * @param names of the results
   * @throws UnsupportedNodeException if a call is none of Millrace's aggregates
   */
  public static List<Aggregate> convert(
      List<AggregateCall> calls,
      IntFunction<Expression> columns,
      Map<Integer, String> texts,
      List<String> names) {
    List<Aggregate> aggregates = new ArrayList<>();
    for (int i = 0; i < calls.size(); i++) {
      aggregates.add(convert(calls.get(i), columns, texts).as(names.get(i)));
    }
    return aggregates;
  }

  private static Aggregate convert(
      AggregateCall call, IntFunction<Expression> columns, Map<Integer, String> texts) {
    check(call);
    Aggregate aggregate =
        switch (call.getArgList().size()) {
          case 0 -> ofRows(call);
          case 1 -> of(call, columns.apply(call.getArgList().get(0)));
          default ->
              Aggregate.listAgg(columns.apply(call.getArgList().get(0)), separator(call, texts));
        };
    if (call.isDistinct()) {
      aggregate = aggregate.distinct();
    }
    return call.hasFilter() ? aggregate.filter(columns.apply(call.filterArg)) : aggregate;
  }

  private static void check(AggregateCall call) {
    boolean isPlain =
        !call.isApproximate()
            && !call.ignoreNulls()
            && call.distinctKeys == null
            && call.getCollation().getFieldCollations().isEmpty()
            && (call.getArgList().size() <= 1 || hasSeparator(call));
    if (!isPlain) {
      throw unsupported(call);
    }
  }

  private static UnsupportedNodeException unsupported(AggregateCall call) {
    boolean isOfUser =
        call.getAggregation() instanceof SqlUserDefinedAggFunction
            || (call.getAggregation() instanceof BridgingSqlAggFunction function
                && function.getDefinition() instanceof UserDefinedFunction);
    if (isOfUser) {
      return new UnsupportedNodeException("function " + name(call) + " is Java code of the user");
    }
    return new UnsupportedNodeException("aggregate " + call);
  }

  private static boolean hasSeparator(AggregateCall call) {
    return name(call).equals(LISTAGG) && call.getArgList().size() == 2;
  }

  private static String separator(AggregateCall call, Map<Integer, String> texts) {
    String separator = texts.get(call.getArgList().get(1));
    if (separator == null) {
      throw new UnsupportedNodeException("a separator that is no literal in " + call);
    }
    return separator;
  }

  private static Aggregate ofRows(AggregateCall call) {
    if (!name(call).equals("COUNT")) {
      throw unsupported(call);
    }
    return Aggregate.count();
  }

  private static Aggregate of(AggregateCall call, Expression argument) {
    return switch (name(call)) {
      case "COUNT" -> Aggregate.count(argument);
      case "SUM" -> Aggregate.sum(argument);
      case "$SUM0" -> Aggregate.sum0(argument);
      case "MIN" -> Aggregate.min(argument);
      case "MAX" -> Aggregate.max(argument);
      case "AVG" -> Aggregate.avg(argument);
      case "FIRST_VALUE" -> Aggregate.firstValue(argument);
      case "LAST_VALUE" -> Aggregate.lastValue(argument);
      case "STDDEV_POP" -> Aggregate.stddevPop(argument);
      case "STDDEV_SAMP" -> Aggregate.stddevSamp(argument);
      case "VAR_POP" -> Aggregate.varPop(argument);
      case "VAR_SAMP" -> Aggregate.varSamp(argument);
      case LISTAGG -> Aggregate.listAgg(argument);
      default -> throw unsupported(call);
    };
  }

  private static String name(AggregateCall call) {
    return call.getAggregation().getName();
  }
}
