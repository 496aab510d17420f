// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.annotation.PublicEvolving;

/** Two columns after the columns of a row with the position of its line. */
@PublicEvolving
public final class LinePosition {
  /** The path of the file, as the file system spells it. */
  public static final String FILE = "__file";

  /** The offset of the line's first byte in the (decompressed) file. */
  public static final String OFFSET = "__offset";

  private static final List<Field> FIELDS =
      List.of(new Field(FILE, DataType.STRING, false), new Field(OFFSET, DataType.INT64, false));

  private LinePosition() {}

  /**
   * The columns of {@code schema} with the position behind them.
   *
   * @throws IllegalArgumentException if it has a column of one of these names
   */
  public static Schema addTo(Schema schema) {
    return new Schema(Stream.concat(schema.fields().stream(), FIELDS.stream()).toList());
  }
}
