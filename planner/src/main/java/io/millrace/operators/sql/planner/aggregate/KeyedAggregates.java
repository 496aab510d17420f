// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.column.Schema;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.aggregate.TwoPhasePlan;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.state.StateTtl;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.util.mapping.Mappings;
import org.apache.flink.table.planner.utils.JavaScalaConversionUtil;
import scala.collection.Seq;

/**
 * Aggregate calls of the planner, by keys.
 *
 * @param keys positions of the key fields in the input; empty if all rows are aggregated together
 * @param calls of aggregates over the fields of the input
 * @param names of the results
 * @param stateTtl how long a key stays behind its last update
 */
record KeyedAggregates(
    List<Integer> keys, List<AggregateCall> calls, List<String> names, StateTtl stateTtl) {
  KeyedAggregates {
    keys = List.copyOf(keys);
    calls = List.copyOf(calls);
    names = List.copyOf(names);
  }

  /** The aggregates of a node, without names of their own. */
  static KeyedAggregates of(int[] grouping, Seq<AggregateCall> aggCalls, StateTtl stateTtl) {
    List<AggregateCall> calls = JavaScalaConversionUtil.toJava(aggCalls);
    return new KeyedAggregates(
        IntStream.of(grouping).boxed().toList(),
        calls,
        IntStream.range(0, calls.size()).mapToObj(i -> "$" + i).toList(),
        stateTtl);
  }

  /**
   * @param fields the names of the results, behind those of the keys
   */
  KeyedAggregates named(List<String> fields) {
    return new KeyedAggregates(keys, calls, fields.subList(keys.size(), fields.size()), stateTtl);
  }

  /** The columns of {@code input} that are no row kinds, those of the keys first. */
  List<String> keysFirst(Schema input) {
    return order(input).stream().map(field -> input.field(field).name()).toList();
  }

  private List<Integer> order(Schema input) {
    List<Integer> order = new ArrayList<>(keys);
    IntStream.range(0, RowKindColumn.rowFields(input).size())
        .filter(field -> !keys.contains(field))
        .forEach(order::add);
    return order;
  }

  /** These over batches with the columns of {@link #keysFirst}. */
  KeyedAggregates overKeysFirst(Schema input) {
    List<Integer> order = order(input);
    Mappings.TargetMapping mapping = Mappings.target(order::indexOf, order.size(), order.size());
    return new KeyedAggregates(
        IntStream.range(0, keys.size()).boxed().toList(),
        calls.stream().map(call -> call.transform(mapping)).toList(),
        names,
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

  List<String> keyNames(Schema input) {
    return keys.stream().map(key -> input.field(key).name()).toList();
  }

  // A key's column may have the name that the planner gives a result.
  List<Aggregate> aggregates(Schema input) {
    List<String> keyNames = keyNames(input);
    return AggregateCalls.convert(
        calls,
        position -> Expressions.col(input.field(position).name()),
        names.stream().map(name -> keyNames.contains(name) ? name + "$" : name).toList());
  }
}
