// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.aggregate;

import org.apache.flink.table.functions.AggregateFunction;

/** {@link WeightedAverage} as a function of Flink SQL. */
public class FlinkWeightedAverage
    extends AggregateFunction<Long, FlinkWeightedAverage.Accumulator> {
  private static final long serialVersionUID = 1L;

  /** The sum of the values times their weights, and the sum of the weights. */
  public static final class Accumulator {
    public long sum;
    public long weights;
  }

  @Override
  public Accumulator createAccumulator() {
    return new Accumulator();
  }

  @Override
  public Long getValue(Accumulator accumulator) {
    return accumulator.weights == 0 ? null : accumulator.sum / accumulator.weights;
  }

  public void accumulate(Accumulator accumulator, Long value, Integer weight) {
    if (value != null && weight != null) {
      accumulator.sum += value * weight;
      accumulator.weights += weight;
    }
  }

  public void retract(Accumulator accumulator, Long value, Integer weight) {
    if (value != null && weight != null) {
      accumulator.sum -= value * weight;
      accumulator.weights -= weight;
    }
  }

  /** Adds the accumulators of parts. */
  public void merge(Accumulator accumulator, Iterable<Accumulator> parts) {
    for (Accumulator part : parts) {
      accumulator.sum += part.sum;
      accumulator.weights += part.weights;
    }
  }
}
