// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batch;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * The hidden last column of batches whose rows keep their own event times: milliseconds since
 * 1970-01-01T00:00Z, or {@link #NONE}. It is in no stream's schema and may be in some batches of a
 * stream and not in others: the rows of a batch without it have the batch's timestamp.
 *
 * <p>{@link ColumnBatch#table} leaves it out; {@link ColumnBatch#tableWithEventTimes} has it.
 */
@Internal
public final class EventTimeColumn {
  /** The name of the column; reserved. */
  public static final String NAME = "$event_time";

  /** The event time of a row without a timestamp, which is Flink's own mark for that. */
  public static final long NONE = Long.MIN_VALUE;

  public static final Field FIELD = new Field(NAME, DataType.INT64, false);

  private EventTimeColumn() {}

  /** {@code schema} with this column behind its columns. */
  public static Schema addTo(Schema schema) {
    List<Field> fields = new ArrayList<>(schema.fields());
    fields.add(FIELD);
    return new Schema(fields);
  }

  /** Whether the last column of {@code schema} is this column. */
  public static boolean isIn(Schema schema) {
    return schema.size() > 0 && schema.field(schema.size() - 1).equals(FIELD);
  }

  /**
   * Checks that {@code schema}, of a stream, leaves this column's name free.
   *
   * @throws IllegalArgumentException if a column has the name
   */
  public static void checkNameIsFree(Schema schema) {
    if (schema.names().contains(NAME)) {
      throw new IllegalArgumentException(
          "the column name '"
              + NAME
              + "' is reserved for the event times that rows keep in batches; rename the column");
    }
  }

  /**
   * A new table with {@code times} behind the columns of {@code table}, which stays the caller's.
   *
   * @param times a time for each row; this takes ownership
   */
  public static Table addTo(Table table, Column times) {
    List<Column> columns = new ArrayList<>();
    table.upperBoundColumns().forEach(column -> columns.add(column.share()));
    columns.add(times);
    return table.withColumns(addTo(table.schema()), columns);
  }

  /** {@code schema} without this column, which is its last. */
  public static Schema removeFrom(Schema schema) {
    return new Schema(schema.fields().subList(0, schema.size() - 1));
  }

  /**
   * The columns of {@code table} but this one, as a new table over the same memory. Never waits.
   *
   * @param table may lack the column
   */
  public static Table removeFrom(Table table) {
    List<String> names = table.schema().names();
    return isIn(table.schema()) ? table.select(names.subList(0, names.size() - 1)) : table.share();
  }
}
