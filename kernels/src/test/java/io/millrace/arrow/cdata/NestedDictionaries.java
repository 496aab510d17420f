// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.List;

/**
 * A host table of a list of dictionary words, and of a dictionary whose values are structs of a
 * dictionary word: columns that no builder makes.
 */
public final class NestedDictionaries {
  public static final List<List<Object>> ROWS =
      List.of(
          List.of(List.of("b", "a"), List.of("y")),
          List.of(List.of(), List.of("x")),
          List.of(List.of("b"), List.of("y")));

  private static final DataType WORD = DataType.dictionary(DataType.STRING);

  private NestedDictionaries() {}

  /** The caller closes the table. */
  public static Table table(DeviceExtension device) {
    DataType lists = DataType.list(WORD);
    DataType struct = DataType.struct(Field.of("word", WORD));
    DataType dictionary = DataType.dictionary(struct);
    try (Table words = new TableBuilder().column("w", WORD, "b", "a", "b").buildOnHost(device);
        Table offsets =
            new TableBuilder().column("o", DataType.INT32, 0, 2, 2, 3).buildOnHost(device);
        Table names = new TableBuilder().column("n", WORD, "x", "y").buildOnHost(device);
        Table codes = new TableBuilder().column("c", DataType.INT32, 1, 0, 1).buildOnHost(device)) {
      Column list =
          new Column(
              lists, 3, 0, null, null, List.of(offsets.column(0).share(), words.column(0).share()));
      Column values = new Column(struct, 2, 0, null, null, List.of(names.column(0).share()));
      Column encoded =
          new Column(
              dictionary,
              3,
              0,
              codes.column(0).data().orElseThrow().share(),
              null,
              List.of(values));
      Schema schema = Schema.of(Field.of("lists", lists), Field.of("encoded", dictionary));
      return new Table(schema, List.of(list, encoded), 3);
    }
  }
}
