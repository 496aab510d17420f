// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.process.ProcessHarness.Job;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Maps and lists that functions may not have. */
class EntrySchemasTest {
  private static final Schema ROWS = Schema.of(Field.of("k", DataType.INT32));

  /** Has the maps and lists that a test gives it, and does nothing. */
  private record Declared(List<MapStateSchema> maps, List<ListStateSchema> lists)
      implements KeyedBatchFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema outputSchema(Schema input) {
      return input;
    }

    @Override
    public Schema stateSchema(Schema input) {
      return Schema.of();
    }

    @Override
    public List<MapStateSchema> mapStates(Schema input) {
      return maps;
    }

    @Override
    public List<ListStateSchema> listStates(Schema input) {
      return lists;
    }

    @Override
    public KeyedResult process(KeyedBatch batch) {
      return new KeyedResult(null, null);
    }
  }

  private static Job declared(List<MapStateSchema> maps, List<ListStateSchema> lists) {
    return new Job(ROWS, List.of("k"), new Declared(maps, lists));
  }

  private static MapStateSchema map(String name, Field key, Field value) {
    return new MapStateSchema(name, Schema.of(key), Schema.of(value));
  }

  @Test
  void mapsAndListsThatCannotBeKeptAreRefused() {
    Field key = Field.of("m", DataType.INT64);
    Field value = Field.of("v", DataType.STRING);
    MapStateSchema map = map("x", key, value);
    ListStateSchema list = new ListStateSchema("x", Schema.of(value));
    assertRefused(
        declared(List.of(map), List.of(list)),
        "expected a name of its own for each map and list, got 'x'");
    assertRefused(
        declared(List.of(map("", key, value)), List.of()),
        "expected a name of its own for each map and list, got ''");
    assertRefused(
        declared(List.of(new MapStateSchema("x", Schema.of(), Schema.of(value))), List.of()),
        "expected a column of the map key of 'x', got none");
    assertRefused(
        declared(List.of(map("x", Field.of("k", DataType.INT32), value)), List.of()),
        "'x': two columns are named 'k'");
    assertRefused(
        declared(List.of(map("x", key, new Field("v", DataType.INT32, false))), List.of()),
        "'x': expected a nullable value column, got 'v' INT NOT NULL: null says that there is no"
            + " value");
    assertRefused(
        declared(List.of(map("x", Field.of("m", DataType.list(DataType.INT32)), value)), List.of()),
        "'x': expected a type other than ARRAY, ROW and DICTIONARY for key column 'm', got"
            + " ARRAY<INT>");
    for (String column : List.of("$key", "$is_put", "$is_present", "$is_requested")) {
      assertRefused(
          declared(List.of(map("x", key, Field.of(column, DataType.INT32))), List.of()),
          "'x': two columns are named '" + column + "'");
    }
    for (String column : List.of("$key", "$index", "$is_put", "$is_added")) {
      assertRefused(
          declared(
              List.of(),
              List.of(new ListStateSchema("x", Schema.of(Field.of(column, DataType.INT32))))),
          "'x': two columns are named '" + column + "'");
    }
    declared(List.of(map("ä".repeat(32_767), key, value)), List.of()).plan();
    assertRefused(
        declared(List.of(map("ä".repeat(32_768), key, value)), List.of()),
        "expected a name of at most 65535 bytes for a map or list, got 65536: '"
            + "ä".repeat(40)
            + "...'");
  }

  private static void assertRefused(Job job, String message) {
    assertThatThrownBy(job::plan).isInstanceOf(ExpressionException.class).hasMessage(message);
  }
}
