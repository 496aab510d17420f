// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * The key columns and accumulators of a state table, and the layout of its rows: the words of the
 * key, a word for nulls if a key column may be null, the accumulators, and zeros up to a multiple
 * of 32 bytes, the size of a sector of GPU memory.
 *
 * @param input the columns of the batches
 * @param keys positions of the key columns, at least one
 * @param accumulators in the order of their words
 */
@PublicEvolving
public record StateSchema(Schema input, List<Integer> keys, List<Accumulator> accumulators)
    implements Serializable {
  /** The prefix of columns of {@link #changes} that hold values before the update. */
  public static final String BEFORE = "$before_";

  /** The prefix of columns of {@link #changes} that hold values after the update. */
  public static final String AFTER = "$after_";

  /** The column of {@link #changes} that tells whether the key is new. */
  public static final String IS_NEW = "$is_new";

  static final int MAX_KEY_WORDS = 24;
  static final int MAX_ACCUMULATORS = 32;
  private static final int SECTOR_WORDS = 4;

  /**
   * Checks that the table can be kept.
   *
   * @throws IllegalArgumentException if there is no key column, a key column has a type without a
   *     fixed width, a function does not support the type of its column, or there are more than 24
   *     words of keys or 32 accumulators
   */
  public StateSchema {
    keys = List.copyOf(keys);
    accumulators = List.copyOf(accumulators);
    if (keys.isEmpty()) {
      throw new IllegalArgumentException("expected a key column");
    }
    for (int key : keys) {
      checkKey(input.field(key));
    }
    for (Accumulator accumulator : accumulators) {
      accumulator.check(input);
    }
    int words = firstAccumulator(input, keys);
    if (words > MAX_KEY_WORDS || accumulators.size() > MAX_ACCUMULATORS) {
      throw new IllegalArgumentException(
          "expected at most "
              + MAX_KEY_WORDS
              + " words of keys and "
              + MAX_ACCUMULATORS
              + " accumulators, got "
              + words
              + " and "
              + accumulators.size());
    }
  }

  private static void checkKey(Field field) {
    TypeId id = field.type().id();
    if (!id.isFixedWidth() || id == TypeId.DICTIONARY) {
      throw new IllegalArgumentException(
          "expected a type of fixed width for key column '"
              + field.name()
              + "', got "
              + field.type());
    }
  }

  static int words(DataType type) {
    return type.id() == TypeId.DECIMAL128 ? 2 : 1;
  }

  boolean hasNullWord() {
    return keys.stream().anyMatch(key -> input.field(key).nullable());
  }

  /** The position of the first accumulator in a row. */
  int firstAccumulator() {
    return firstAccumulator(input, keys);
  }

  private static int firstAccumulator(Schema input, List<Integer> keys) {
    boolean hasNullWord = keys.stream().anyMatch(key -> input.field(key).nullable());
    return keys.stream().mapToInt(key -> words(input.type(key))).sum() + (hasNullWord ? 1 : 0);
  }

  int rowWords() {
    int words = firstAccumulator() + accumulators.size();
    return (words + SECTOR_WORDS - 1) / SECTOR_WORDS * SECTOR_WORDS;
  }

  /** Bytes of a state row. */
  public int rowBytes() {
    return rowWords() * Long.BYTES;
  }

  /** The key columns. */
  public Schema keySchema() {
    return new Schema(keys.stream().map(input::field).toList());
  }

  /**
   * The columns of {@link StateTable#update}: the key columns, for each accumulator its value
   * before and after the update, and {@link #IS_NEW}. Values are never null.
   */
  public Schema changes() {
    List<Field> fields = new ArrayList<>(keySchema().fields());
    for (Accumulator accumulator : accumulators) {
      DataType type = accumulator.type(input);
      fields.add(new Field(BEFORE + accumulator.name(), type, false));
      fields.add(new Field(AFTER + accumulator.name(), type, false));
    }
    fields.add(new Field(IS_NEW, DataType.BOOL, false));
    return new Schema(fields);
  }
}
