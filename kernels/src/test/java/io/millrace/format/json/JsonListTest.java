// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RandomValues;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RowCountTest;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Arrays and bytes in records of JSON. */
class JsonListTest {
  private static final DataType PART =
      DataType.struct(
          new Field("id", DataType.INT32, false),
          Field.of("names", DataType.list(DataType.STRING)),
          Field.of("place", DataType.struct(Field.of("x", DataType.FLOAT64))));
  private static final Schema LISTS =
      Schema.of(
          Field.of("numbers", DataType.list(DataType.INT32)),
          Field.of("days", DataType.list(DataType.DATE)),
          Field.of("grid", DataType.list(DataType.list(DataType.INT64))),
          Field.of("parts", DataType.list(PART)),
          Field.of("bytes", DataType.BINARY));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private List<List<Object>> rows(Schema schema, String lines) {
    try (ParsedRecords parsed = JsonLines.read(schema, lines, device)) {
      assertThat(parsed.malformed()).isEmpty();
      return device.rows(parsed.table());
    }
  }

  private static Schema schema() {
    List<Field> fields = new ArrayList<>(LISTS.fields());
    fields.add(Field.of("inside", DataType.struct(LISTS.fields().toArray(Field[]::new))));
    for (Field scalar : RandomValues.SCALARS.fields()) {
      fields.add(Field.of(scalar.name() + " list", DataType.list(scalar.type())));
    }
    DataType all = DataType.struct(RandomValues.SCALARS.fields().toArray(Field[]::new));
    fields.add(Field.of("all", DataType.list(all)));
    return new Schema(fields);
  }

  @Test
  void listsHaveTheirElementsInOrder() {
    String lines =
        """
        {"numbers": [1, null ,-3], "days":["2026-02-28"], "grid":[[1,2],[],null,[3]], "bytes":"AAE="}
        {"numbers":[],"grid":[[ ]], "parts":[{"id":1,"names":["a","\\u0062\\n"]}, null,
         {"id":2,"other":[1],"place":{"x":1.5},"names":[]}]}
        {"numbers":null, "bytes":""}
        {"numbers":[9]}
        """
            .replace(",\n ", ", ");
    assertThat(rows(LISTS, lines))
        .containsExactly(
            Arrays.asList(
                Arrays.asList(1, null, -3),
                List.of(LocalDate.of(2026, 2, 28)),
                Arrays.asList(List.of(1L, 2L), List.of(), null, List.of(3L)),
                null,
                ByteBuffer.wrap(new byte[] {0, 1})),
            Arrays.asList(
                List.of(),
                null,
                List.of(List.of()),
                Arrays.asList(
                    Arrays.asList(1, List.of("a", "b\n"), null),
                    null,
                    Arrays.asList(2, List.of(), List.of(1.5))),
                null),
            Arrays.asList(null, null, null, null, ByteBuffer.allocate(0)),
            Arrays.asList(List.of(9), null, null, null, null));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          `{"numbers":[1,"2"]}`       | 17 | `column 'numbers.element': expected INT, got a JSON value of another type`
          `{"numbers":[1,3000000000]}` | 24 | `column 'numbers.element': the value is not a valid INT`
          `{"numbers":[[1]]}`         | 12 | `column 'numbers.element': expected INT, got a JSON value of another type`
          `{"numbers":{}}`            | 11 | `column 'numbers': expected ARRAY<INT>, got a JSON value of another type`
          `{"numbers":5}`             | 12 | `column 'numbers': expected ARRAY<INT>, got a JSON value of another type`
          `{"numbers":"a"}`           | 14 | `column 'numbers': expected ARRAY<INT>, got a JSON value of another type`
          `{"numbers":[1,]}`          | 14 | `invalid JSON`
          `{"numbers":[1 2]}`         | 14 | `invalid JSON`
          `{"numbers":[1`             | 14 | `invalid JSON`
          `{"numbers":["a"],"days":[}` | 25 | `invalid JSON`
          `{"grid":[[1],[2,true]]}`   | 20 | `column 'grid.element.element': expected BIGINT, got a JSON value of another type`
          `{"grid":[[1],2]}`          | 14 | `column 'grid.element': expected ARRAY<BIGINT>, got a JSON value of another type`
          `{"parts":[{"id":1},{}]}`   | 21 | `column 'parts.element.id' is NOT NULL, but is missing`
          `{"parts":[{"id":null}]}`   | 20 | `column 'parts.element.id' is NOT NULL, got null`
          `{"parts":[{"id":1,"id":1}]}` | 23 | `column 'parts.element.id' is there more than once`
          `{"parts":[{"id":1,"place":{"x":1e999}}]}` | 36 | `column 'parts.element.place.x': the value is not a valid DOUBLE`
          `{"days":["2026-02-30"],"numbers":[true]}` | 38 | `column 'numbers.element': expected INT, got a JSON value of another type`
          `{"bytes":"AAE"}`           | 14 | `column 'bytes': the value is not a valid BINARY`
          `{"bytes":"AAE=="}`         | 16 | `column 'bytes': the value is not a valid BINARY`
          `{"bytes":"A==="}`          | 15 | `column 'bytes': the value is not a valid BINARY`
          `{"bytes":"AA=A"}`          | 15 | `column 'bytes': the value is not a valid BINARY`
          `{"bytes":"AA A"}`          | 15 | `column 'bytes': the value is not a valid BINARY`
          `{"bytes":"AA-_"}`          | 15 | `column 'bytes': the value is not a valid BINARY`
          `{"bytes":[1]}`             | 9 | `column 'bytes': expected BINARY, got a JSON value of another type`
          """)
  void aBadElementCostsOnlyItsRecord(String record, int position, String reason) {
    String before = "{\"numbers\":[1,2]}\n \n";
    try (ParsedRecords parsed =
        JsonLines.read(LISTS, before + record + "\n{\"numbers\":[3]}", device)) {
      assertThat(parsed.malformed())
          .containsExactly(
              new MalformedRecord(2, before.length(), record.length() + 1, position, reason));
      assertThat(device.rows(parsed.table()).stream().map(row -> row.get(0)))
          .containsExactly(List.of(1, 2), List.of(3));
    }
  }

  @Test
  void bytesMayHaveEscapes() {
    assertThat(rows(LISTS, "{\"bytes\":\"\\/\\u002f8\\u003d\"}"))
        .containsExactly(
            Arrays.asList(null, null, null, null, ByteBuffer.wrap(new byte[] {-1, -1})));
  }

  @Test
  void numbersOfListsAreRoundedOnTheHostWhereTheDeviceCannot() {
    Schema schema = Schema.of(Field.of("v", DataType.list(DataType.FLOAT64)));
    // In the middle between two numbers, which the digits behind the nineteenth decide.
    String middle = "9007199254740993.00000000000000000000000";
    String lines =
        "{\"v\":[1,%s1,%s]}\n{\"v\":[1%s]}\n{\"v\":[2]}\n"
            .formatted(middle, middle, "0".repeat(400));
    try (ParsedRecords parsed = JsonLines.read(schema, lines, device)) {
      assertThat(parsed.malformed().stream().map(MalformedRecord::reason))
          .containsExactly("column 'v.element': the value is not a valid DOUBLE");
      assertThat(device.rows(parsed.table()))
          .containsExactly(
              List.of(List.of(1.0, 9007199254740994.0, 9007199254740992.0)), List.of(List.of(2.0)));
    }
  }

  @RowCountTest
  void rowsAreThoseThatWereWritten(int rowCount) {
    Random numbers = random.random();
    Schema schema = schema();
    int count = Math.min(rowCount, 2000);
    List<List<Object>> expected = new ArrayList<>();
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < count; i++) {
      expected.add(RandomJson.record(schema, numbers, lines));
      lines.append('\n');
    }
    assertThat(rows(schema, lines.toString())).isEqualTo(expected);
  }

  @Test
  void thePlanIsThatOfTheSources() {
    assertThat(JsonFormat.Layout.LAYOUT.fields())
        .isEqualTo(CudaStructures.ofSources().layout("JsonPlan").fields());
  }
}
