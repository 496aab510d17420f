// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.aggregate.TwoPhasePlan;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.transform.CalcPlan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.Calc;
import org.apache.calcite.rel.core.Exchange;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexLocalRef;
import org.apache.calcite.util.NlsString;
import org.apache.calcite.util.mapping.Mappings;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.utils.JavaScalaConversionUtil;
import scala.collection.Seq;

/**
 * Aggregate calls of the planner, by keys.
 *
 * @param keys positions of the key fields in the input; empty if all rows are aggregated together
 * @param calls of aggregates over the fields of the input
 * @param names of the results
 * @param texts the fields of the input that are constant texts, such as separators
 * @param stateTtl how long a key stays behind its last update
 */
@Internal
public record KeyedAggregates(
    List<Integer> keys,
    List<AggregateCall> calls,
    List<String> names,
    Map<Integer, String> texts,
    StateTtl stateTtl) {
  private static final String ROWS = "$rows";

  public KeyedAggregates {
    keys = List.copyOf(keys);
    calls = List.copyOf(calls);
    names = List.copyOf(names);
    texts = Map.copyOf(texts);
  }

  /** The aggregates of a node, without names of their own. */
  public static KeyedAggregates of(int[] grouping, Seq<AggregateCall> aggCalls, StateTtl stateTtl) {
    return of(grouping, JavaScalaConversionUtil.toJava(aggCalls), stateTtl);
  }

  /** The aggregates of a node, without names of their own. */
  static KeyedAggregates of(int[] grouping, List<AggregateCall> calls, StateTtl stateTtl) {
    return new KeyedAggregates(
        keys(grouping),
        calls,
        IntStream.range(0, calls.size()).mapToObj(i -> "$" + i).toList(),
        Map.of(),
        stateTtl);
  }

  /** The positions of key fields, as Flink's nodes have them. */
  public static List<Integer> keys(int[] grouping) {
    return IntStream.of(grouping).boxed().toList();
  }

  /** These, over rows of {@code input}, whose constant texts they may have as arguments. */
  public KeyedAggregates over(RelNode input) {
    return new KeyedAggregates(keys, calls, names, constantTexts(input), stateTtl);
  }

  private static Map<Integer, String> constantTexts(RelNode input) {
    if (input instanceof Exchange exchange) {
      return constantTexts(exchange.getInput());
    } else if (!(input instanceof Calc calc)) {
      return Map.of();
    } else {
      Map<Integer, String> texts = new HashMap<>();
      List<RexLocalRef> fields = calc.getProgram().getProjectList();
      for (int i = 0; i < fields.size(); i++) {
        if (calc.getProgram().expandLocalRef(fields.get(i)) instanceof RexLiteral literal
            && literal.getValue() instanceof NlsString) {
          texts.put(i, literal.getValueAs(String.class));
        }
      }
      return texts;
    }
  }

  /**
   * The same aggregates, with the names of a node's fields.
   *
   * @param fields the names of the keys, then those of the results
   */
  public KeyedAggregates named(List<String> fields) {
    return new KeyedAggregates(
        keys, calls, fields.subList(keys.size(), fields.size()), texts, stateTtl);
  }

  /** Selects the columns of {@code input}, those of the keys first. */
  CalcPlan selectKeysFirst(Schema input, ExpressionSettings settings) {
    List<Expression> columns =
        order(input).stream()
            .<Expression>map(field -> Expressions.col(input.field(field).name()))
            .toList();
    return CalcPlan.of(input, settings).select(columns);
  }

  /** The schema with these columns, and with row kinds if {@code input} has them. */
  public Schema schemaKeysFirst(Schema input) {
    Schema rows = new Schema(order(input).stream().map(input::field).toList());
    return RowKindColumn.isIn(input) ? RowKindColumn.addTo(rows) : rows;
  }

  /** The position of a field of {@code input} among these columns. */
  public int positionKeysFirst(int field, Schema input) {
    return order(input).indexOf(field);
  }

  private List<Integer> order(Schema input) {
    List<Integer> order = new ArrayList<>(keys);
    IntStream.range(0, RowKindColumn.rowFields(input).size())
        .filter(field -> !keys.contains(field))
        .forEach(order::add);
    return order;
  }

  /** These over batches of {@link #schemaKeysFirst}. */
  public KeyedAggregates overKeysFirst(Schema input) {
    List<Integer> order = order(input);
    Mappings.TargetMapping mapping = Mappings.target(order::indexOf, order.size(), order.size());
    return new KeyedAggregates(
        IntStream.range(0, keys.size()).boxed().toList(),
        calls.stream().map(call -> call.transform(mapping)).toList(),
        names,
        texts.entrySet().stream()
            .collect(Collectors.toMap(text -> order.indexOf(text.getKey()), Map.Entry::getValue)),
        stateTtl);
  }

  /**
   * The aggregates over batches of {@code input}.
   *
   * @throws UnsupportedNodeException if an aggregate is not supported
   */
  GroupAggregatePlan plan(Schema input, ExpressionSettings settings) {
    try {
      return new GroupAggregatePlan(input, keyNames(input), aggregates(input), settings, stateTtl);
    } catch (ExpressionException e) {
      throw new UnsupportedNodeException(e.getMessage());
    }
  }

  /**
   * The aggregates over batches of {@code input} in two phases; empty if they have to be computed
   * in one.
   */
  Optional<TwoPhasePlan> twoPhasePlan(Schema input, ExpressionSettings settings) {
    try {
      return Optional.of(
          new TwoPhasePlan(input, keyNames(input), aggregates(input), settings, stateTtl));
    } catch (ExpressionException e) {
      return Optional.empty();
    }
  }

  /**
   * The names of the key columns.
   *
   * @throws UnsupportedNodeException if there are more than state can be restored by
   */
  public List<String> keyNames(Schema input) {
    return PlannedInput.keyNames(input, keys);
  }

  /**
   * The aggregates over columns of {@code input}, with names that no key column has. Without calls
   * it is the number of rows, by which keys come and go.
   *
   * @throws UnsupportedNodeException if a call is none of Millrace's aggregates
   */
  public List<Aggregate> aggregates(Schema input) {
    if (calls.isEmpty()) {
      return List.of(Aggregate.count().as(ROWS));
    }
    List<String> keyNames = keyNames(input);
    return AggregateCalls.convert(
        calls,
        position -> Expressions.col(input.field(position).name()),
        texts,
        names.stream().map(name -> keyNames.contains(name) ? name + "$" : name).toList());
  }
}
