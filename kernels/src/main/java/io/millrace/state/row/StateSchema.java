// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.state.StateTable;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The key columns and accumulators of a state table, and the layout of its rows: the words of the
 * key, a word for nulls if a key column may be null, the accumulators, and zeros up to a multiple
 * of 32 bytes, the size of a sector of GPU memory. Immutable.
 */
@PublicEvolving
public final class StateSchema implements Serializable {
  /** The column of {@link #changes} with the {@link ChangeKind} of each row. */
  public static final String KIND = "$kind";

  /** There is no column of kinds. */
  public static final int NO_KINDS = -1;

  public static final int MAX_KEY_WORDS = 24;
  public static final int MAX_ACCUMULATOR_WORDS = 48;
  private static final int SECTOR_WORDS = 4;

  private static final long serialVersionUID = 1L;

  private final Schema input;
  private final List<Integer> keys;
  private final List<Accumulator> accumulators;
  private final int kindColumn;
  private final boolean takesPartials;
  private final List<Integer> tails;
  private final List<Integer> valueTails;
  private final boolean hasNullWord;
  private final boolean isOrdered;
  private final int firstAccumulator;
  private final int rowWords;
  private final int rowCount;
  private final Schema changes;

  /**
   * @param input the columns of the batches
   * @param keys positions of the key columns, at least one
   * @param accumulators in the order of their words
   * @param kindColumn position of the column with the {@link ChangeKind} of each row, an INT8;
   *     {@link #NO_KINDS} if all rows are inserted. A key is absent while all its rows are taken
   *     back
   * @throws IllegalArgumentException if there is no key column, a key column is an ARRAY, a ROW or
   *     a DICTIONARY, a function does not support the type of its column, there are more than 24
   *     words of keys or 48 words of accumulators, rows may be taken back and there is an
   *     accumulator that cannot take them back, such as a minimum, or no count of rows, or another
   *     accumulator than the first one is a time
   */
  public StateSchema(
      Schema input, List<Integer> keys, List<Accumulator> accumulators, int kindColumn) {
    this(input, keys, accumulators, kindColumn, false);
  }

  private StateSchema(
      Schema input,
      List<Integer> keys,
      List<Accumulator> accumulators,
      int kindColumn,
      boolean takesPartials) {
    this.input = input;
    this.keys = List.copyOf(keys);
    this.accumulators = List.copyOf(accumulators);
    this.kindColumn = kindColumn;
    this.takesPartials = takesPartials;
    StateSchemaCheck.check(this);
    this.tails = findTails();
    this.hasNullWord = hasNullWord(input, keys);
    this.isOrdered = accumulators.stream().anyMatch(accumulator -> accumulator.isOrdered(input));
    this.firstAccumulator = firstAccumulator(input, keys);
    this.valueTails = findValueTails();
    int words = firstAccumulator + accumulatorWords(input, accumulators);
    this.rowWords = (words + SECTOR_WORDS - 1) / SECTOR_WORDS * SECTOR_WORDS;
    this.rowCount = findRowCount();
    this.changes = findChanges();
  }

  public Schema input() {
    return input;
  }

  public List<Integer> keys() {
    return keys;
  }

  public List<Accumulator> accumulators() {
    return accumulators;
  }

  public int kindColumn() {
    return kindColumn;
  }

  /**
   * This schema for the first of two phases: without the time of updates. Its tables give {@link
   * StateTable#partials}.
   */
  public StateSchema ofFirstPhase() {
    List<Accumulator> timeless =
        accumulators.stream().filter(accumulator -> !accumulator.isTime()).toList();
    return new StateSchema(input, keys, timeless, kindColumn);
  }

  /**
   * This schema for the second of two phases: its tables are updated with batches of {@link
   * #partials}, and are like other tables else.
   *
   * @throws IllegalArgumentException if there is an accumulator whose values are combined in the
   *     order of the rows
   */
  public StateSchema ofSecondPhase() {
    for (Accumulator accumulator : accumulators) {
      if (accumulator.isOrdered(input)) {
        throw new IllegalArgumentException(
            "expected accumulators that do not depend on the order of rows, got "
                + accumulator.function()
                + " '"
                + accumulator.name()
                + "'");
      }
    }
    return new StateSchema(input, keys, accumulators, kindColumn, true);
  }

  /** Whether this is the schema {@link #ofSecondPhase}. */
  public boolean takesPartials() {
    return takesPartials;
  }

  /** The columns of {@link StateTable#partials}: the key columns, and a BIGINT for each word. */
  public Schema partials() {
    List<Field> fields = new ArrayList<>(keySchema().fields());
    List<Field> words = wordSchema().fields();
    for (Field word : words.subList(hasTime() ? 1 : 0, words.size())) {
      fields.add(new Field(word.name(), DataType.INT64, false));
    }
    return new Schema(fields);
  }

  public static int words(DataType type) {
    return switch (type.id()) {
      case DECIMAL128, STRING, BINARY, TIMESTAMP_NANOS -> 2;
      default -> 1;
    };
  }

  /** Whether a key or a value is a STRING or BINARY, so that blocks of rows have long strings. */
  public boolean hasStrings() {
    return hasKeyStrings() || hasValueStrings();
  }

  /** Whether a key column is a STRING or BINARY column. */
  public boolean hasKeyStrings() {
    return !tails.isEmpty();
  }

  /** Whether an accumulator has a STRING or BINARY value. */
  public boolean hasValueStrings() {
    return !valueTails.isEmpty();
  }

  /**
   * The positions in a row of the tails of the key's strings, each behind its head; see {@link
   * KeyWord}.
   */
  public List<Integer> tails() {
    return tails;
  }

  private List<Integer> findTails() {
    List<Integer> found = new ArrayList<>();
    int word = 0;
    for (int key : keys) {
      word += words(input.type(key));
      if (input.type(key).id().isVariableWidth()) {
        found.add(word - 1);
      }
    }
    return List.copyOf(found);
  }

  /** The positions in a row of the tails of the strings of accumulators, likewise. */
  public List<Integer> valueTails() {
    return valueTails;
  }

  /** The positions of the input columns with the strings of accumulators. */
  public List<Integer> stringColumns() {
    return accumulators.stream()
        .filter(accumulator -> accumulator.isString(input))
        .map(Accumulator::column)
        .toList();
  }

  private List<Integer> findValueTails() {
    List<Integer> found = new ArrayList<>();
    int word = firstAccumulator;
    for (Accumulator accumulator : accumulators) {
      if (accumulator.isString(input)) {
        found.add(word + 1);
      }
      word += accumulator.words(input);
    }
    return List.copyOf(found);
  }

  public boolean hasNullWord() {
    return hasNullWord;
  }

  private static boolean hasNullWord(Schema input, List<Integer> keys) {
    return keys.stream().anyMatch(key -> input.field(key).nullable());
  }

  /** Whether rows have a time, the first accumulator, by which they expire. */
  public boolean hasTime() {
    return !accumulators.isEmpty() && accumulators.get(0).isTime();
  }

  /**
   * Checks the time of an update.
   *
   * @param time null if there is none
   * @throws IllegalArgumentException if rows expire and there is none, or the other way round
   */
  public void checkTime(UpdateTime time) {
    if (hasTime() != (time != null)) {
      throw new IllegalArgumentException(
          hasTime() ? "expected a time: rows expire" : "expected no time: rows stay");
    }
  }

  /**
   * The rows with a time before {@code time}, in milliseconds since the epoch, have expired.
   *
   * @throws IllegalStateException if rows have no time
   */
  public Expiry expiryBefore(long time) {
    if (!hasTime()) {
      throw new IllegalStateException("the rows have no time");
    }
    return Expiry.before(time, accumulators.get(0));
  }

  /** The position of the first accumulator in a row. */
  public int firstAccumulator() {
    return firstAccumulator;
  }

  static int firstAccumulator(Schema input, List<Integer> keys) {
    int keyWords = keys.stream().mapToInt(key -> words(input.type(key))).sum();
    return keyWords + (hasNullWord(input, keys) ? 1 : 0);
  }

  /** Words of the accumulators, which lie one behind the other. */
  public int accumulatorWords() {
    return accumulatorWords(input, accumulators);
  }

  static int accumulatorWords(Schema input, List<Accumulator> accumulators) {
    return accumulators.stream().mapToInt(accumulator -> accumulator.words(input)).sum();
  }

  /**
   * A field for each word of the accumulators, by which a checkpoint tells them: the first word has
   * the name and the type of the accumulator's value, and each further word is a BIGINT.
   */
  public Schema wordSchema() {
    List<Field> fields = new ArrayList<>();
    for (Accumulator accumulator : accumulators) {
      fields.add(new Field(accumulator.name(), accumulator.type(input), false));
      for (int word = 1; word < accumulator.words(input); word++) {
        fields.add(new Field(accumulator.name() + "$" + word, DataType.INT64, false));
      }
    }
    return new Schema(fields);
  }

  /** Words of a state row. */
  public int rowWords() {
    return rowWords;
  }

  /** The positions of the key columns in the batches of updates. */
  public List<Integer> keysOfBatches() {
    return takesPartials ? IntStream.range(0, keys.size()).boxed().toList() : keys;
  }

  /** The position of the last word of the key columns, before the null word. */
  public int lastKeyWord() {
    return firstAccumulator() - (hasNullWord() ? 1 : 0) - 1;
  }

  /** Whether there are accumulators whose values are combined in the order of the rows. */
  public boolean isOrdered() {
    return isOrdered;
  }

  /** Whether results depend on the order of the rows. */
  public boolean dependsOnOrder() {
    return accumulators.stream().anyMatch(accumulator -> accumulator.dependsOnOrder(input));
  }

  /**
   * Words of a row from the sector of its first accumulator on; those of the last sector if there
   * are no accumulators, since an update writes a sector.
   */
  public int partialWords() {
    return Math.max(SECTOR_WORDS, rowWords - firstAccumulator / SECTOR_WORDS * SECTOR_WORDS);
  }

  /** Bytes of a state row. */
  public int rowBytes() {
    return rowWords * Long.BYTES;
  }

  /** The key columns. */
  public Schema keySchema() {
    return new Schema(keys.stream().map(input::field).toList());
  }

  /**
   * The word that tells whether a key is present, among the words of the accumulators; -1 if every
   * key is.
   */
  public int rowCount() {
    return rowCount;
  }

  /** Whether keys end when all of their rows were taken back. */
  public boolean takesRowsBack() {
    return rowCount >= 0;
  }

  /**
   * The position in a row of the first word of an accumulator.
   *
   * @throws IllegalArgumentException if there is none with this name
   */
  public int word(String accumulator) {
    return firstAccumulator + wordSchema().indexOf(accumulator);
  }

  private int findRowCount() {
    int word = 0;
    for (Accumulator accumulator : accumulators) {
      if (kindColumn != NO_KINDS && accumulator.isRowCount()) {
        return word;
      }
      word += accumulator.words(input);
    }
    return -1;
  }

  /**
   * The columns of {@link StateTable#update}: the key columns, the values of the accumulators, of
   * which only sums of decimals may be null, and {@link #KIND}.
   */
  public Schema changes() {
    return changes;
  }

  private Schema findChanges() {
    List<Field> fields = new ArrayList<>(keySchema().fields());
    for (Accumulator accumulator : accumulators) {
      fields.add(
          new Field(accumulator.name(), accumulator.type(input), accumulator.isNullable(input)));
    }
    fields.add(new Field(KIND, DataType.INT8, false));
    return new Schema(fields);
  }
}
