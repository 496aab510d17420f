// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.testing.DeviceExtension;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.api.java.typeutils.TypeExtractor;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.types.bitmap.Bitmap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ExternalRowTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("id", DataType.INT64),
          Field.of("name", DataType.STRING),
          Field.of("price", DataType.decimal(20, 2)),
          Field.of("day", DataType.DATE),
          Field.of("time", DataType.TIME),
          Field.of("local", DataType.timestamp(9)),
          Field.of("instant", DataType.timestamp(6, true)),
          Field.of("bytes", DataType.BINARY),
          Field.of("bitmap", DataType.BITMAP),
          Field.of("tags", DataType.list(DataType.STRING)),
          Field.of("inner", DataType.struct(Field.of("flag", DataType.BOOL))));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static Object[] values() {
    return new Object[] {
      1L,
      "one",
      new BigDecimal("12.34"),
      LocalDate.parse("2026-11-21"),
      LocalTime.parse("12:34:56.789"),
      LocalDateTime.parse("2026-11-21T12:34:56.123456789"),
      Instant.parse("1969-12-31T23:59:59.999999Z"),
      new byte[] {1, 2, 3},
      Bitmap.fromArray(new int[] {-7, 1, 5}),
      new String[] {"a", null},
      Row.of(true)
    };
  }

  private static Row named(Object[] values) {
    Row row = Row.withNames();
    for (int i = values.length - 1; i >= 0; i--) {
      row.setField(SCHEMA.field(i).name(), values[i]);
    }
    return row;
  }

  @Test
  void rowsByPositionAndByNameComeBack() {
    List<Row> rows = List.of(Row.of(values()), named(values()), Row.of(new Object[SCHEMA.size()]));
    List<Row> decoded = roundTrip(SCHEMA, rows);
    assertThat(decoded).hasSize(3);
    assertThat(decoded.get(0)).isEqualTo(Row.of(values()));
    assertThat(decoded.get(1)).isEqualTo(Row.of(values()));
    assertThat(decoded.get(1).<String>getFieldAs("name")).isEqualTo("one");
    assertThat(decoded.get(2)).isEqualTo(Row.of(new Object[SCHEMA.size()]));
  }

  @Test
  void rowKindsComeBack() {
    Schema schema = RowKindColumn.addTo(Schema.of(Field.of("id", DataType.INT64)));
    List<Row> rows = Arrays.stream(RowKind.values()).map(kind -> Row.ofKind(kind, 1L)).toList();
    assertThat(roundTrip(schema, rows)).isEqualTo(rows);
  }

  @Test
  void rowsThatDoNotFitAreRefused() {
    try (RowTableBuilder builder = builder(SCHEMA)) {
      ExternalRowAppender appender = new ExternalRowAppender(builder);
      assertThatThrownBy(() -> appender.append(Row.of(1L)))
          .hasMessageContaining("expected a row of 11 fields, got 1");
      Object[] values = values();
      values[0] = "not a number";
      assertThatThrownBy(() -> appender.append(Row.of(values)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("not a number");
    }
  }

  /** A POJO with a public, a private and a nullable field. */
  public static final class Sale {
    public long id;
    private String name;
    public Integer amount;
    public LocalDateTime at;
    public BigDecimal price;

    public String getName() {
      return name;
    }

    public void setName(String name) {
      this.name = name;
    }
  }

  private static PojoTypeInfo<Sale> saleType() {
    return (PojoTypeInfo<Sale>) TypeExtractor.createTypeInfo(Sale.class);
  }

  @Test
  void pojosAreReadByName() {
    Schema schema =
        Schema.of(
            Field.of("price", DataType.decimal(10, 2)),
            Field.of("name", DataType.STRING),
            Field.of("amount", DataType.INT32),
            Field.of("at", DataType.timestamp(3)),
            new Field("id", DataType.INT64, false));
    Sale sale = new Sale();
    sale.id = 7;
    sale.setName("pen");
    sale.price = new BigDecimal("1.005");
    sale.at = LocalDateTime.parse("2026-11-21T12:00");
    try (RowTableBuilder builder = builder(schema)) {
      RowAppender<Sale> appender = PojoAppender.factory(saleType()).create(builder);
      appender.append(sale);
      sale.amount = 3;
      appender.append(sale);
      try (Table table = builder.finish(2)) {
        assertThat(device.rows(table))
            .containsExactly(
                Arrays.asList(new BigDecimal("1.01"), "pen", null, sale.at, 7L),
                List.of(new BigDecimal("1.01"), "pen", 3, sale.at, 7L));
      }
    }
  }

  @Test
  void aPojoWithoutAColumnsFieldIsRefused() {
    try (RowTableBuilder builder = builder(Schema.of(Field.of("color", DataType.STRING)))) {
      assertThatThrownBy(() -> new PojoAppender<>(saleType(), builder))
          .hasMessageContaining("no field 'color'");
    }
    try (RowTableBuilder builder = builder(Schema.of(Field.of("name", DataType.INT64)))) {
      assertThatThrownBy(() -> new PojoAppender<>(saleType(), builder))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("name")
          .hasMessageContaining("BIGINT");
    }
  }

  private RowTableBuilder builder(Schema schema) {
    return new RowTableBuilder(schema, device.hostStream(), device.hostMemory());
  }

  private List<Row> roundTrip(Schema schema, List<Row> rows) {
    try (RowTableBuilder builder = builder(schema)) {
      ExternalRowAppender appender = new ExternalRowAppender(builder);
      rows.forEach(appender::append);
      try (Table table = builder.finish(rows.size());
          AccessScope scope = AccessScope.on(device.hostStream())) {
        RowDecoder<Row> decoder = new ExternalRowDecoder(schema).decoder(table, scope);
        List<Row> decoded = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
          decoded.add(decoder.decode(i));
        }
        return decoded;
      }
    }
  }
}
