// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * The optional last column of a changelog's table: each row's {@link
 * org.apache.flink.types.RowKind} as its byte value. A table without it holds insertions only.
 */
@PublicEvolving
public final class RowKindColumn {
  /** The name of the column; reserved. */
  public static final String NAME = "$row_kind";

  private static final Field FIELD = new Field(NAME, DataType.INT8, false);

  private RowKindColumn() {}

  /** {@code schema} with a row-kind column after its columns. */
  public static Schema addTo(Schema schema) {
    List<Field> fields = new ArrayList<>(schema.fields());
    fields.add(FIELD);
    return new Schema(fields);
  }

  /** Whether the last column of {@code schema} is a row-kind column. */
  public static boolean isIn(Schema schema) {
    return schema.size() > 0 && schema.field(schema.size() - 1).equals(FIELD);
  }

  /** The fields of the rows: the fields of {@code schema} without the row-kind column. */
  public static List<Field> rowFields(Schema schema) {
    return isIn(schema) ? schema.fields().subList(0, schema.size() - 1) : schema.fields();
  }
}
