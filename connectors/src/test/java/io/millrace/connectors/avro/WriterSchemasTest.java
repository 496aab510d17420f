// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.avro;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.avro.AvroType;
import io.millrace.format.avro.AvroType.Kind;
import io.millrace.format.avro.AvroType.LogicalType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WriterSchemasTest {
  private static AvroType record(String fields) {
    return WriterSchemas.parse("{\"type\":\"record\",\"name\":\"r\",\"fields\":[" + fields + "]}");
  }

  @Test
  void typesAreThoseOfTheSchema() {
    AvroType inner = AvroType.record(List.of());
    assertThat(
            record(
                "{\"name\":\"a\",\"type\":[\"null\",\"int\"],\"default\":null},"
                    + "{\"name\":\"b\",\"type\":{\"type\":\"map\",\"values\":"
                    + "{\"type\":\"array\",\"items\":\"boolean\"}}},"
                    + "{\"name\":\"c\",\"type\":{\"type\":\"record\",\"name\":\"i\",\"fields\":[]}},"
                    + "{\"name\":\"d\",\"type\":\"i\"},"
                    + "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"e\","
                    + "\"symbols\":[\"A\"]}},"
                    + "{\"name\":\"f\",\"type\":{\"type\":\"fixed\",\"name\":\"f\",\"size\":3,"
                    + "\"logicalType\":\"decimal\",\"precision\":5,\"scale\":2}}"))
        .isEqualTo(
            AvroType.record(
                List.of(
                    new AvroType.Field(
                        "a",
                        AvroType.union(List.of(AvroType.of(Kind.NULL), AvroType.of(Kind.INT)))),
                    new AvroType.Field(
                        "b", AvroType.map(AvroType.array(AvroType.of(Kind.BOOLEAN)))),
                    new AvroType.Field("c", inner),
                    new AvroType.Field("d", inner),
                    new AvroType.Field("e", AvroType.enumOf(List.of("A"))),
                    new AvroType.Field("f", AvroType.fixed(3).decimal(2)))));
  }

  @ParameterizedTest
  @CsvSource({
    "int, date, DATE",
    "int, time-millis, TIME_MILLIS",
    "long, time-micros, TIME_MICROS",
    "long, timestamp-millis, TIMESTAMP_MILLIS",
    "long, local-timestamp-micros, TIMESTAMP_MICROS",
    "long, timestamp-nanos, TIMESTAMP_NANOS",
    "long, date, NONE",
    "int, timestamp-millis, NONE",
    "long, other, NONE"
  })
  void logicalTypesAreThoseOfTheirTypes(String type, String name, LogicalType expected) {
    AvroType parsed =
        WriterSchemas.parse("{\"type\":\"" + type + "\",\"logicalType\":\"" + name + "\"}");
    assertThat(parsed.logicalType()).isEqualTo(expected);
  }

  @Test
  void schemasThatCannotBeReadAreRefused() {
    assertThatThrownBy(() -> WriterSchemas.parse("{\"type\":\"other\"}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("expected a schema of Avro: ");
    assertThatThrownBy(() -> WriterSchemas.parse("{"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("expected a schema of Avro: ");
    assertThatThrownBy(() -> record("{\"name\":\"next\",\"type\":[\"null\",\"r\"]}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("records that contain themselves are not read: r");
  }

  @Test
  void whatTheParserStumblesOverIsRefused() {
    assertThatThrownBy(() -> record("{\"name\":\"a\",\"type\":\"int\",\"order\":5}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("expected a schema of Avro: ");
  }

  @Test
  void fewBytesDoNotBecomeManyTypes() {
    String type = "\"int\"";
    for (int level = 0; level < 40; level++) {
      type =
          "{\"type\":\"record\",\"name\":\"r%d\",\"fields\":[{\"name\":\"a\",\"type\":%s}%s]}"
              .formatted(
                  level,
                  type,
                  level == 0 ? "" : ",{\"name\":\"b\",\"type\":\"r%d\"}".formatted(level - 1));
    }
    String doubled = type;
    assertThatThrownBy(() -> WriterSchemas.parse(doubled))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("schemas of more than 65536 types, with those of named ones, are not read");
    String deep = "{\"type\":\"array\",\"items\":".repeat(900) + "\"int\"" + "}".repeat(900);
    assertThatThrownBy(() -> WriterSchemas.parse(deep))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("schemas of more than 128 types in each other are not read");
  }

  @Test
  void columnsHaveSchemas() {
    Schema columns =
        Schema.of(
            new Field("id", DataType.INT8, false),
            Field.of("at", DataType.timestamp(3)),
            new Field("until", DataType.timestamp(6, true), false),
            Field.of("tags", DataType.list(DataType.struct(Field.of("n", DataType.decimal(5, 1))))),
            new Field("word", DataType.dictionary(DataType.STRING), false));
    assertThat(ColumnSchemas.text(columns))
        .isEqualTo(
            "{\"type\":\"record\",\"name\":\"record\",\"fields\":["
                + "{\"name\":\"id\",\"type\":\"int\"},"
                + "{\"name\":\"at\",\"type\":[\"null\","
                + "{\"type\":\"long\",\"logicalType\":\"local-timestamp-millis\"}]},"
                + "{\"name\":\"until\",\"type\":"
                + "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}},"
                + "{\"name\":\"tags\",\"type\":[\"null\",{\"type\":\"array\",\"items\":[\"null\","
                + "{\"type\":\"record\",\"name\":\"record_tags\",\"fields\":[{\"name\":\"n\","
                + "\"type\":[\"null\",{\"type\":\"bytes\",\"logicalType\":\"decimal\","
                + "\"precision\":5,\"scale\":1}]}]}]}]},"
                + "{\"name\":\"word\",\"type\":[\"null\",\"string\"]}]}");
    assertThatThrownBy(() -> ColumnSchemas.text(Schema.of(Field.of("a b", DataType.INT32))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Avro does not allow a column: Illegal character in: a b");
  }

  @Test
  void recordsOfTheSamePathHaveNamesOfTheirOwn() {
    Schema columns =
        Schema.of(
            new Field("a_b", DataType.struct(new Field("x", DataType.INT32, false)), false),
            new Field(
                "a",
                DataType.struct(
                    new Field("b", DataType.struct(new Field("y", DataType.INT64, false)), false)),
                false));
    assertThat(WriterSchemas.parse(ColumnSchemas.text(columns)))
        .isEqualTo(
            AvroType.record(
                List.of(
                    new AvroType.Field("a_b", recordOf("x", Kind.INT)),
                    new AvroType.Field(
                        "a",
                        AvroType.record(
                            List.of(new AvroType.Field("b", recordOf("y", Kind.LONG))))))));
  }

  private static AvroType recordOf(String field, Kind kind) {
    return AvroType.record(List.of(new AvroType.Field(field, AvroType.of(kind))));
  }
}
