// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.ValueNumbering;
import io.millrace.expression.typed.ValueNumbering.Value;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * The identity of a calc's generated kernel: calcs with equal identities, even of different jobs,
 * share a kernel. Refers to no object of a job, so that a process-wide cache may hold it.
 *
 * @param values all expressions by value number
 * @param hasCondition whether the first root is a condition
 * @param roots value numbers of the condition and the projections
 * @param ptxSources PTX of device functions outside the built-in library
 */
record KernelIdentity(
    List<Value> values, boolean hasCondition, List<Integer> roots, Set<String> ptxSources) {

  /**
   * @param roots the condition, if there is one, and the projections
   */
  static KernelIdentity of(
      boolean hasCondition, List<TypedExpression> roots, Collection<String> ptxSources) {
    ValueNumbering numbering = new ValueNumbering();
    List<Integer> numbers = roots.stream().map(numbering::number).toList();
    List<Value> values = numbering.values().stream().map(KernelIdentity::withoutFunction).toList();
    return new KernelIdentity(values, hasCondition, numbers, Set.copyOf(ptxSources));
  }

  private static Value withoutFunction(Value value) {
    List<Object> properties =
        value.properties().stream()
            .map(property -> property instanceof BoundFunction f ? f.kernelIdentity() : property)
            .toList();
    return new Value(value.kind(), properties, value.operands());
  }
}
