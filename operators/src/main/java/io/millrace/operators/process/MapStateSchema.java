// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A map that each key of a stream has: a columnar form of Flink's {@code MapState}. Each entry has
 * a map key, and values.
 *
 * @param name by which checkpoints know the map: the name of no other map or list of the function
 * @param keys the columns of the map key, at least one, with the types that keys of a stream have:
 *     all but ARRAY and ROW
 * @param values the value columns, which are nullable, with the same types; an entry may have
 *     values that are all null
 */
@PublicEvolving
public record MapStateSchema(String name, Schema keys, Schema values) implements Serializable {
  /** The column with the number of a key of the batch, an INT without nulls. */
  public static final String KEY = "$key";

  /** The column that says whether there is an entry, a BOOLEAN without nulls. */
  public static final String IS_PRESENT = "$is_present";

  /** The column that says whether an entry is put, or removed; a BOOLEAN without nulls. */
  public static final String IS_PUT = "$is_put";

  private static final long serialVersionUID = 1L;
  static final Field KEY_FIELD = new Field(KEY, DataType.INT32, false);
  private static final Field IS_PRESENT_FIELD = new Field(IS_PRESENT, DataType.BOOL, false);
  private static final Field IS_PUT_FIELD = new Field(IS_PUT, DataType.BOOL, false);

  /** The columns that name entries: {@link #KEY}, and the map key. */
  public Schema requests() {
    return joined(List.of(KEY_FIELD), keys.fields());
  }

  /** The column that names keys of which all entries are read: {@link #KEY}. */
  public Schema keyRequests() {
    return new Schema(List.of(KEY_FIELD));
  }

  /** The columns of what is found: the values, and {@link #IS_PRESENT}. */
  public Schema found() {
    return joined(values.fields(), List.of(IS_PRESENT_FIELD));
  }

  /** The columns of entries: {@link #KEY}, the map key and the values. */
  public Schema entries() {
    return joined(requests().fields(), values.fields());
  }

  /** The columns of changes: those of {@link #entries()}, and {@link #IS_PUT}. */
  public Schema changes() {
    return joined(entries().fields(), List.of(IS_PUT_FIELD));
  }

  static Schema joined(List<Field> first, List<Field> second) {
    List<Field> fields = new ArrayList<>(first);
    fields.addAll(second);
    return new Schema(fields);
  }
}
