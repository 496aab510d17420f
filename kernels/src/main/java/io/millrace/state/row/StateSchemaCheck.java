// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.util.List;

/** Checks the key columns and the accumulators of a {@link StateSchema}. */
final class StateSchemaCheck {
  private StateSchemaCheck() {}

  /**
   * Checks what the schema is made of.
   *
   * @throws IllegalArgumentException as the constructor of {@link StateSchema}
   */
  static void check(StateSchema schema) {
    Schema input = schema.input();
    List<Integer> keys = schema.keys();
    List<Accumulator> accumulators = schema.accumulators();
    if (keys.isEmpty()) {
      throw new IllegalArgumentException("expected a key column");
    }
    for (int key : keys) {
      checkKey(input.field(key));
    }
    for (Accumulator accumulator : accumulators) {
      accumulator.check(input);
    }
    for (Accumulator accumulator : accumulators.stream().skip(1).toList()) {
      if (accumulator.isTime()) {
        throw new IllegalArgumentException(
            "expected the time '" + accumulator.name() + "' to be the first accumulator");
      }
    }
    checkSize(
        StateSchema.firstAccumulator(input, keys),
        StateSchema.accumulatorWords(input, accumulators));
    if (schema.kindColumn() != StateSchema.NO_KINDS) {
      checkRetractable(accumulators);
    }
  }

  private static void checkSize(int keyWords, int accumulatorWords) {
    if (keyWords > StateSchema.MAX_KEY_WORDS
        || accumulatorWords > StateSchema.MAX_ACCUMULATOR_WORDS) {
      throw new IllegalArgumentException(
          "expected at most "
              + StateSchema.MAX_KEY_WORDS
              + " words of keys and "
              + StateSchema.MAX_ACCUMULATOR_WORDS
              + " words of accumulators, got "
              + keyWords
              + " and "
              + accumulatorWords);
    }
  }

  private static void checkRetractable(List<Accumulator> accumulators) {
    for (Accumulator accumulator : accumulators) {
      if (!accumulator.isRetractable()) {
        throw new IllegalArgumentException(
            accumulator.function()
                + " '"
                + accumulator.name()
                + "' is not supported for a changelog: the values before are not kept");
      }
    }
    if (accumulators.stream().noneMatch(Accumulator::isRowCount)) {
      throw new IllegalArgumentException("expected a count of all rows for a changelog");
    }
  }

  private static void checkKey(Field field) {
    if (!field.type().id().isScalar()) {
      throw new IllegalArgumentException(
          "expected a type other than ARRAY, ROW and DICTIONARY for key column '"
              + field.name()
              + "', got "
              + field.type());
    }
  }
}
