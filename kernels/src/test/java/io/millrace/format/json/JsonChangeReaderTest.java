// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import static io.millrace.format.record.ChangeEnvelope.CANAL;
import static io.millrace.format.record.ChangeEnvelope.DEBEZIUM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.atIndex;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.format.record.ChangeEnvelope;
import io.millrace.testing.DeviceExtension;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonChangeReaderTest {
  private static final byte INSERT = 0;
  private static final byte UPDATE_BEFORE = 1;
  private static final byte UPDATE_AFTER = 2;
  private static final byte DELETE = 3;

  private static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("name", DataType.STRING),
          Field.of("price", DataType.decimal(5, 2)),
          new Field("kind", DataType.INT8, false));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private ParsedRecords read(Schema schema, ChangeEnvelope envelope, String payload, String lines) {
    byte[] bytes = lines.getBytes(StandardCharsets.UTF_8);
    try (RecordBytes records = RecordLines.of(bytes, device);
        JsonChangeReader reader =
            new JsonChangeReader(schema, envelope, payload, device.stream(), device.memory())) {
      return reader.read(records);
    }
  }

  private static List<Object> row(long id, String name, String price, byte kind) {
    return Arrays.asList(id, name, price == null ? null : new BigDecimal(price), kind);
  }

  private static List<Integer> records(ParsedRecords parsed) {
    return IntStream.range(0, parsed.table().rowCount()).map(parsed::recordOf).boxed().toList();
  }

  @Test
  void thereMayBeAsManyColumnsAsInJson() {
    List<Field> fields = new ArrayList<>();
    for (int i = 0; i < 127; i++) {
      fields.add(Field.of("c" + i, DataType.INT32));
    }
    fields.add(new Field("kind", DataType.INT8, false));
    try (ParsedRecords parsed =
        read(new Schema(fields), DEBEZIUM, "", "{\"after\":{\"c126\":5},\"op\":\"c\"}")) {
      assertThat(parsed.malformed()).isEmpty();
      assertThat(device.rows(parsed.table()).get(0)).contains(5, atIndex(126));
    }
  }

  @Test
  void changesOfDebeziumAreRowsInOrder() {
    String lines =
        """
        {"before":null,"after":{"id":1,"name":"a","price":1.5},"source":{"x":[{}]},"op":"c","ts_ms":1}
        {"op":"u","after":{"id":1,"name":"b","price":1.5},"before":{"id":1,"name":"a","price":"1.5"}}
        \t
        {"before":{"id":"1","name":"b","price":1.5},"after":null,"op":"d"}
        {"after":{"id":2},"op":"\\u0072"}
        """;
    try (ParsedRecords parsed = read(SCHEMA, DEBEZIUM, "", lines)) {
      assertThat(parsed.malformed()).isEmpty();
      assertThat(device.rows(parsed.table()))
          .containsExactly(
              row(1, "a", "1.50", INSERT),
              row(1, "a", "1.50", UPDATE_BEFORE),
              row(1, "b", "1.50", UPDATE_AFTER),
              row(1, "b", "1.50", DELETE),
              row(2, null, null, INSERT));
      assertThat(records(parsed)).containsExactly(0, 1, 1, 3, 4);
    }
  }

  @Test
  void theEnvelopeMayBeAPayload() {
    String lines =
        """
        {"schema":{"type":"struct","op":"d"},"payload":{"after":{"id":1},"op":"c"}}
        {"payload":null}
        {"after":{"id":1},"op":"c"}
        """;
    try (ParsedRecords parsed = read(SCHEMA, DEBEZIUM, JsonChangeReader.PAYLOAD, lines)) {
      assertThat(device.rows(parsed.table())).containsExactly(row(1, null, null, INSERT));
      assertThat(parsed.malformed().stream().map(MalformedRecord::reason))
          .containsExactly(
              "column 'payload' is NOT NULL, got null",
              "column 'payload' is NOT NULL, but is missing");
    }
  }

  @Test
  void changesOfCanalAreTheRowsOfArrays() {
    String lines =
        """
        {"data":[{"id":"1","name":"a","price":"1.5"},{"id":"2","name":null}],"old":null,"type":"INSERT"}
        {"data":[{"id":"1","name":"b","price":null},{"id":"2","name":"c"}],"old":[{"name":"a","price":"1.5"},{"name":null}],"type":"UPDATE"}
        {"data":[{"id":"2","name":"c"}],"type":"DELETE"}
        {"data":null,"type":"CREATE"}
        {"data":[],"type":"INSERT"}
        {"data":[],"type":"UPDATE"}
        """;
    try (ParsedRecords parsed = read(SCHEMA, CANAL, "", lines)) {
      assertThat(parsed.malformed()).isEmpty();
      assertThat(device.rows(parsed.table()))
          .containsExactly(
              row(1, "a", "1.50", INSERT),
              row(2, null, null, INSERT),
              row(1, "a", "1.50", UPDATE_BEFORE),
              row(1, "b", null, UPDATE_AFTER),
              row(2, null, null, UPDATE_BEFORE),
              row(2, "c", null, UPDATE_AFTER),
              row(2, "c", null, DELETE));
      assertThat(records(parsed)).containsExactly(0, 0, 1, 1, 1, 1, 2);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          DEBEZIUM | `{"after":{"id":1},"op":"x"}` | 0 | `column 'op': the value is not a known operation`
          DEBEZIUM | `{"after":{"id":1}}` | 18 | `column 'op' is NOT NULL, but is missing`
          DEBEZIUM | `{"after":null,"op":"c"}` | 0 | `column 'after' is null or missing`
          DEBEZIUM | `{"after":{"id":1},"op":"u"}` | 0 | `column 'before' is null or missing`
          DEBEZIUM | `{"before":{"id":1},"op":"u"}` | 0 | `column 'after' is null or missing`
          DEBEZIUM | `{"op":"d"}` | 0 | `column 'before' is null or missing`
          DEBEZIUM | `{"after":[{"id":1}],"op":"c"}` | 9 | `column 'after': expected ROW<id BIGINT NOT NULL, name STRING, price DECIMAL(5, 2)>, got a JSON value of another type`
          DEBEZIUM | `{"after":{"id":"a"},"op":"c"}` | 18 | `column 'id': the value is not a valid BIGINT`
          DEBEZIUM | `{"before":{},"after":{"id":1},"op":"u"}` | 12 | `column 'id' is NOT NULL, but is missing`
          DEBEZIUM | `{"before":{"id":1},"after":{"id":1,"price":1000},"op":"u"}` | 47 | `column 'price': the value is not a valid DECIMAL(5, 2)`
          DEBEZIUM | `{"after":{"id":1},"op":"c"` | 27 | `invalid JSON`
          CANAL    | `{"data":{"id":"1"},"type":"INSERT"}` | 8 | `column 'data': expected ARRAY<ROW<id BIGINT NOT NULL, name STRING, price DECIMAL(5, 2)>>, got a JSON value of another type`
          CANAL    | `{"data":["a"],"type":"INSERT"}` | 12 | `expected a JSON object, got another JSON value`
          CANAL    | `{"data":[null],"type":"DELETE"}` | 13 | `expected a JSON object, got another JSON value`
          CANAL    | `{"data":null,"type":"DELETE"}` | 0 | `column 'data' is null or missing`
          CANAL    | `{"data":[{"id":"1"}],"type":"UPDATE"}` | 0 | `column 'old' is null or missing`
          CANAL    | `{"data":[{"id":"1"},{"id":"2"}],"old":[{}],"type":"UPDATE"}` | 0 | `column 'old' has too few rows`
          CANAL    | `{"data":[{"id":"1"}],"type":"TRUNCATE"}` | 0 | `column 'type': the value is not a known operation`
          CANAL    | `{"data":[{"id":"1","price":"x"}],"old":[{"price":"1"}],"type":"UPDATE"}` | 30 | `column 'price': the value is not a valid DECIMAL(5, 2)`
          CANAL    | `{"data":[{"id":null}],"old":[{"name":"1"}],"type":"UPDATE"}` | 19 | `column 'id' is NOT NULL, got null`
          CANAL    | `{"data":[{"id":"1"}],"old":[{"id":null}],"type":"UPDATE"}` | 38 | `column 'id' is NOT NULL, got null`
          CANAL    | `{"data":[{"id":"1"}],"old":[{"name":"1","name":"2"}],"type":"UPDATE"}` | 47 | `column 'name' is there more than once`
          """)
  void aMalformedRecordCostsOnlyItself(
      ChangeEnvelope envelope, String record, int position, String reason) {
    boolean isCanal = envelope == CANAL;
    String before =
        isCanal
            ? "{\"data\":[{\"id\":\"7\"}],\"type\":\"INSERT\"}\n"
            : "{\"after\":{\"id\":7},\"op\":\"c\"}\n";
    try (ParsedRecords parsed = read(SCHEMA, envelope, "", before + record + "\n" + before)) {
      assertThat(parsed.malformed())
          .containsExactly(
              new MalformedRecord(1, before.length(), record.length() + 1, position, reason));
      assertThat(device.rows(parsed.table()))
          .containsExactly(row(7, null, null, INSERT), row(7, null, null, INSERT));
      assertThat(records(parsed)).containsExactly(0, 2);
    }
  }

  @Test
  void stringsAreConvertedAndNestedValuesRead() {
    Schema schema =
        Schema.of(
            Field.of("flag", DataType.BOOL),
            Field.of("number", DataType.INT32),
            Field.of("ratio", DataType.FLOAT64),
            Field.of("tags", DataType.list(DataType.INT16)),
            Field.of("place", DataType.struct(Field.of("x", DataType.INT32))),
            new Field("kind", DataType.INT8, false));
    String number = "9007199254740993.00000000000000000000000";
    String after =
        "{\"flag\":\"TRUE\",\"number\":\"+7\",\"ratio\":\"%s1\",\"tags\":[\"1\",2,null]}"
            .formatted(number);
    String old = "{\"ratio\":\"%s\",\"place\":{\"x\":\"3\"}}".formatted(number);
    String lines = "{\"data\":[%s],\"old\":[%s],\"type\":\"UPDATE\"}".formatted(after, old);
    try (ParsedRecords parsed = read(schema, CANAL, "", lines)) {
      assertThat(parsed.malformed()).isEmpty();
      List<Object> tags = Arrays.asList((short) 1, (short) 2, null);
      assertThat(device.rows(parsed.table()))
          .containsExactly(
              Arrays.asList(true, 7, 9007199254740992.0, tags, List.of(3), UPDATE_BEFORE),
              Arrays.asList(true, 7, 9007199254740994.0, tags, null, UPDATE_AFTER));
    }
  }

  @Test
  void listsOfTheFurtherTextAreRead() {
    Schema schema =
        Schema.of(
            Field.of("name", DataType.STRING),
            Field.of("tags", DataType.list(DataType.STRING)),
            new Field("kind", DataType.INT8, false));
    String old = "\"old\":[{\"name\":\"a\"}]";
    String data = "\"data\":[{\"name\":\"b\",\"tags\":[\"x\",\"y\"]}]";
    for (String rows : List.of(old + "," + data, data + "," + old)) {
      try (ParsedRecords parsed = read(schema, CANAL, "", "{" + rows + ",\"type\":\"UPDATE\"}")) {
        assertThat(device.rows(parsed.table()))
            .containsExactly(
                List.of("a", List.of("x", "y"), UPDATE_BEFORE),
                List.of("b", List.of("x", "y"), UPDATE_AFTER));
      }
    }
  }

  @Test
  void anUndecidedNumberOfTheFurtherTextIsFoundMalformedInItsPlace() {
    Schema schema =
        Schema.of(
            Field.of("name", DataType.STRING),
            Field.of("ratio", DataType.FLOAT64),
            new Field("kind", DataType.INT8, false));
    // In the middle between the largest number and the next power of two: the host decides.
    BigInteger tooLarge = BigInteger.TWO.pow(1024).subtract(BigInteger.TWO.pow(970));
    String lines =
        "{\"data\":[{\"ratio\":%s}],\"old\":[{\"name\":\"a\"}],\"type\":\"UPDATE\"}"
            .formatted(tooLarge);
    try (ParsedRecords parsed = read(schema, CANAL, "", lines)) {
      assertThat(parsed.table().rowCount()).isZero();
      assertThat(parsed.malformed())
          .containsExactly(
              new MalformedRecord(
                  0,
                  0,
                  lines.length(),
                  lines.indexOf("}],\"old"),
                  "column 'ratio': the value is not a valid DOUBLE"));
    }
  }

  @Test
  void thereMayBeNoRecords() {
    try (ParsedRecords parsed = read(SCHEMA, DEBEZIUM, "", "")) {
      assertThat(parsed.table().rowCount()).isZero();
      assertThat(parsed.table().schema()).isEqualTo(SCHEMA);
    }
    try (ParsedRecords parsed = read(SCHEMA, DEBEZIUM, "", "\n \n")) {
      assertThat(parsed.table().rowCount()).isZero();
      assertThat(parsed.malformed()).isEmpty();
    }
  }
}
