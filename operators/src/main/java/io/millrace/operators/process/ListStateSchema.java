// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A list that each key of a stream has: a columnar form of Flink's {@code ListState}.
 *
 * @param name by which checkpoints know the list: the name of no other map or list of the function
 * @param elements the columns of an element, which are nullable, with the types that keys of a
 *     stream have: all but ARRAY and ROW
 */
@PublicEvolving
public record ListStateSchema(String name, Schema elements) implements Serializable {
  /** The column with the number of a key of the batch, an INT without nulls. */
  public static final String KEY = MapStateSchema.KEY;

  /** The column that says whether an element is added, a BOOLEAN without nulls. */
  public static final String IS_ADDED = "$is_added";

  private static final long serialVersionUID = 1L;
  private static final Field IS_ADDED_FIELD = new Field(IS_ADDED, DataType.BOOL, false);
  private static final Schema INDEX = Schema.of(new Field("$index", DataType.INT32, false));
  private static final Field LENGTH = Field.of("$length", DataType.INT32);
  private static final Field FIRST = Field.of("$first", DataType.INT32);

  /** The column that names lists: {@link #KEY}. */
  public Schema requests() {
    return new Schema(List.of(MapStateSchema.KEY_FIELD));
  }

  /** The columns of elements that are read: {@link #KEY}, and those of an element. */
  public Schema read() {
    return MapStateSchema.joined(requests().fields(), elements.fields());
  }

  /** The columns of changes: those of {@link #read}, and {@link #IS_ADDED}. */
  public Schema changes() {
    return MapStateSchema.joined(read().fields(), List.of(IS_ADDED_FIELD));
  }

  /** The elements as a map, whose key is the position of an element. */
  MapStateSchema elementsByIndex() {
    return new MapStateSchema(name, INDEX, elements);
  }

  /** The name of {@link #lengths}. */
  String lengthsName() {
    return name + "$length";
  }

  /**
   * The positions behind the last elements of lists as a map with one entry for each key of the
   * stream: the lengths of lists, unless elements expire. Then the positions of the first elements
   * are beside them.
   */
  MapStateSchema lengths(boolean expires) {
    return new MapStateSchema(
        lengthsName(),
        new Schema(List.of()),
        expires ? Schema.of(LENGTH, FIRST) : Schema.of(LENGTH));
  }
}
