// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * The steps of a {@link Simulation}: all of them follow from the seed. Each step has a seed of its
 * own, so that it does the same when others before it are left out.
 *
 * @param isIncremental whether checkpoints refer to files of earlier checkpoints
 */
record Schedule(long seed, SimulatedOperator operator, boolean isIncremental, List<Step> steps) {
  private static final int MAX_STEPS = 80;
  // Only a checkpoint of which a subtask knows that it has completed is referred to.
  private static final int MORE_CHECKPOINTS = 4;

  enum Kind {
    SEND(28),
    PROCESS(40),
    WATERMARK(0),
    PROCESSING_TIME(0),
    TRIGGER(8),
    WRITE(7),
    BEGIN_WRITE(4),
    FAIL_WRITE(1),
    ABORT(1),
    NOTIFY(4),
    FAIL_MEMORY(3),
    FAIL_OVER(1),
    STOP(1);

    // Of watermarks and the clock, the operator says it.
    private final int weight;

    Kind(int weight) {
      this.weight = weight;
    }

    private int weight(SimulatedOperator operator, boolean isIncremental) {
      if (this == WATERMARK) {
        return operator.watermarkWeight();
      }
      if (this == PROCESSING_TIME) {
        return operator.processingTimeWeight();
      }
      boolean isOfCheckpoints = this == TRIGGER || this == WRITE || this == NOTIFY;
      return isIncremental && isOfCheckpoints ? MORE_CHECKPOINTS * weight : weight;
    }

    private static Kind of(SimulatedOperator operator, boolean isIncremental, Random random) {
      int total = 0;
      for (Kind kind : values()) {
        total += kind.weight(operator, isIncremental);
      }
      int number = random.nextInt(total);
      for (Kind kind : values()) {
        number -= kind.weight(operator, isIncremental);
        if (number < 0) {
          return kind;
        }
      }
      throw new IllegalStateException("no kind has number " + number);
    }
  }

  /**
   * A step.
   *
   * @param seed decides the details
   */
  record Step(Kind kind, long seed) {}

  /** Numbers that differ from those of the next seed, as the first numbers of Random do not. */
  static Random random(long seed) {
    return new Random(new SplittableRandom(seed).nextLong());
  }

  static Schedule of(long seed) {
    Random random = random(seed);
    SimulatedOperator operator =
        switch (random.nextInt(9)) {
          case 0 -> new SimulatedDeduplicate(random);
          case 1 -> new SimulatedGroupAggregate(random);
          case 2 -> new SimulatedSessions(random);
          case 3 -> new SimulatedListAgg(random);
          case 4 -> new SimulatedTimers(random);
          case 5 -> new SimulatedEntries(random);
          case 6 -> new SimulatedExtremes(random);
          case 7 -> new SimulatedUserDefinedAggregate(random);
          default -> new SimulatedWindowAggregate(random);
        };
    boolean isIncremental = random.nextBoolean();
    List<Step> steps = new ArrayList<>();
    for (int i = 10 + random.nextInt(MAX_STEPS - 10); i > 0; i--) {
      steps.add(new Step(Kind.of(operator, isIncremental, random), random.nextLong()));
    }
    return new Schedule(seed, operator, isIncremental, steps);
  }

  /** Steps of which each is needed for the failure. */
  List<Step> shrink(Predicate<List<Step>> fails) {
    List<Step> needed = new ArrayList<>(steps);
    for (int size = needed.size() / 2; size > 0; size /= 2) {
      for (int end = needed.size(); end > 0; end -= size) {
        List<Step> fewer = new ArrayList<>(needed);
        fewer.subList(Math.max(0, end - size), Math.min(end, fewer.size())).clear();
        if (fewer.size() < needed.size() && fails.test(fewer)) {
          needed = fewer;
        }
      }
    }
    return needed;
  }
}
