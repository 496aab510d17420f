// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.expression.Expression;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.function.BatchAggregateFunction;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.UserFunctions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
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

  private static final Map<String, Function<Expression, Aggregate>> OF_ARGUMENT =
      Map.ofEntries(
          Map.entry("COUNT", Aggregate::count),
          Map.entry("SUM", Aggregate::sum),
          Map.entry("$SUM0", Aggregate::sum0),
          Map.entry("MIN", Aggregate::min),
          Map.entry("MAX", Aggregate::max),
          Map.entry("AVG", Aggregate::avg),
          Map.entry("FIRST_VALUE", Aggregate::firstValue),
          Map.entry("LAST_VALUE", Aggregate::lastValue),
          Map.entry("STDDEV_POP", Aggregate::stddevPop),
          Map.entry("STDDEV_SAMP", Aggregate::stddevSamp),
          Map.entry("VAR_POP", Aggregate::varPop),
          Map.entry("VAR_SAMP", Aggregate::varSamp),
          Map.entry("$WELFORD_M2$1", Aggregate::squaredDifferences),
          Map.entry(LISTAGG, Aggregate::listAgg));

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
    List<Expression> arguments = call.getArgList().stream().map(columns::apply).toList();
    Aggregate aggregate =
        isOfUser(call)
            ? Aggregate.of(function(call), arguments.toArray(Expression[]::new))
            : switch (arguments.size()) {
              case 0 -> ofRows(call);
              case 1 -> of(call, arguments.get(0));
              default -> Aggregate.listAgg(arguments.get(0), separator(call, texts));
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
            && (call.getArgList().size() <= 1 || hasSeparator(call) || isOfUser(call));
    if (!isPlain) {
      throw unsupported(call);
    }
  }

  private static UnsupportedNodeException unsupported(AggregateCall call) {
    return new UnsupportedNodeException("aggregate " + call);
  }

  private static boolean isOfUser(AggregateCall call) {
    return call.getAggregation() instanceof SqlUserDefinedAggFunction
        || (call.getAggregation() instanceof BridgingSqlAggFunction function
            && function.getDefinition() instanceof UserDefinedFunction);
  }

  /** The function of the user, in its columnar form. */
  private static BatchAggregateFunction function(AggregateCall call) {
    if (!(call.getAggregation() instanceof BridgingSqlAggFunction aggregation)) {
      throw refused(call, "is registered in the old way");
    }
    UserDefinedFunction definition = (UserDefinedFunction) aggregation.getDefinition();
    if (!(definition instanceof BatchAggregateFunction function)) {
      throw refused(call, "is Java code of the user");
    } else if (!definition.isDeterministic()) {
      throw refused(call, "is not deterministic");
    } else if (UserFunctions.isOpened(definition)) {
      throw refused(call, "has to be opened");
    } else {
      return function;
    }
  }

  private static UnsupportedNodeException refused(AggregateCall call, String reason) {
    return new UnsupportedNodeException("function " + name(call) + " " + reason);
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
    Function<Expression, Aggregate> aggregate = OF_ARGUMENT.get(name(call));
    if (aggregate == null) {
      throw unsupported(call);
    }
    return aggregate.apply(argument);
  }

  private static String name(AggregateCall call) {
    return call.getAggregation().getName();
  }

  /** Flink's names of the functions that have Millrace's form. */
  public static Set<String> names() {
    return OF_ARGUMENT.keySet();
  }
}
