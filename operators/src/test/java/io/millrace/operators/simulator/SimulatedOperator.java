// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.state.StateTtl;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * An operator with keyed state, the rows that it gets, and a simple program that says what it must
 * emit.
 */
interface SimulatedOperator {

  /** The columns of the input; the key columns are the first. */
  Schema schema();

  /** The columns of the output; the key columns are the first. */
  Schema outputSchema();

  int keyColumns();

  OperatorFactory<ColumnBatch, ColumnBatch> factory();

  /** The options of the TaskManager. */
  default Map<String, String> options() {
    return Map.of();
  }

  /** How long keys stay without rows. */
  default StateTtl stateTtl() {
    return StateTtl.NONE;
  }

  /**
   * Whether all subtasks must have the same watermark in a checkpoint, so that no barrier may
   * overtake a watermark.
   */
  default boolean needsEqualWatermarks() {
    return stateTtl().isEventTime();
  }

  /** The weight of watermarks among the steps, beside {@link Schedule.Kind}. */
  default int watermarkWeight() {
    return stateTtl().isEventTime() ? 20 : 4;
  }

  /** The weight of steps of the machine's clock, likewise. */
  default int processingTimeWeight() {
    return 2;
  }

  /** A subtask of the source, at its beginning. */
  RowSource newSource();

  /** The model of one key group, at its beginning. */
  KeyGroupModel newModel();

  /** A subtask of the source. */
  interface RowSource {
    /** The next rows, perhaps none. */
    List<List<Object>> nextRows(Random random);

    /** The next watermark, which is not less than the previous one. */
    default long nextWatermark(long previous, Random random) {
      return previous + 1 + random.nextInt(100);
    }

    /** The state of the source in a checkpoint: a source that goes on from here. */
    RowSource copy();
  }

  /** What an operator must have emitted for the rows of one key group, and what it did emit. */
  interface KeyGroupModel {
    void process(List<Object> row);

    /** The watermark of the subtask. */
    default void watermark(long timestamp) {}

    /**
     * The subtask begins with a checkpoint.
     *
     * @param watermark the smallest one of the subtasks that had some of its key groups
     */
    default void restored(long watermark) {}

    default void processingTime(long timestamp) {}

    /** The subtask is about to make its snapshot, or its input has ended. */
    default void flush() {}

    /**
     * The operator emitted {@code row}.
     *
     * @throws AssertionError if the row cannot follow the rows before it
     */
    void emitted(List<Object> row);

    /**
     * Compares what was emitted with what must have been.
     *
     * @throws AssertionError if the operator has not emitted all that it must
     */
    void check();

    /** The state of the model, and of what was emitted, in a checkpoint. */
    KeyGroupModel copy();
  }
}
