// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.postgres.copy.CopyBinaryDecoder;
import io.millrace.connectors.postgres.copy.CopyBinaryEncoder;
import io.millrace.connectors.postgres.copy.PostgresType;
import io.millrace.memory.AccessScope;
import io.millrace.services.SharedServices;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;

/** PostgreSQL takes what is written, as the values that it is, and gives it back. */
class CopyFormatTest {
  private static final int ROWS = 2000;
  private static final LocalDate FIRST_DAY = LocalDate.of(-4713, 11, 24);
  private static final LocalDate LAST_DAY = LocalDate.of(5_874_897, 12, 31);
  // The largest TIMESTAMP, which is 32 years before PostgreSQL's.
  private static final LocalDateTime LAST_TIME = LocalDateTime.of(294_246, 12, 31, 0, 0);
  private static final LocalDateTime FIRST_TIME = FIRST_DAY.atStartOfDay();
  private static final int HEADER_BYTES = 19;
  private static final int TRAILER_BYTES = 2;

  @RegisterExtension static final SharedServices services = new SharedServices();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void randomRowsOfAllTypesComeBack() throws Exception {
    Schema schema = DataTypes.schema(types());
    List<List<Object>> rows = new RandomTables(random.random(), 0.2).rows(schema, ROWS);
    rows.forEach(row -> row.replaceAll(CopyFormatTest::withinRange));
    assertThat(throughDatabase("copy_random", schema, rows, List.of())).isEqualTo(rows);
  }

  private static List<DataType> types() {
    List<DataType> types = new ArrayList<>(DataTypes.fixedWidth());
    types.addAll(List.of(DataType.STRING, DataType.BINARY));
    types.addAll(
        List.of(DataType.decimal(38, 0), DataType.decimal(38, 38), DataType.decimal(5, 5)));
    Stream.of(
            DataType.INT32,
            DataType.STRING,
            DataType.BOOL,
            DataType.decimal(20, 3),
            DataType.timestamp(6),
            DataType.BINARY)
        .map(DataType::list)
        .forEach(types::add);
    return types;
  }

  private static Object withinRange(Object value) {
    if (value instanceof String text) {
      return text.replace('\0', '0');
    }
    if (value instanceof LocalDate day) {
      return day.isBefore(FIRST_DAY) ? FIRST_DAY : day.isAfter(LAST_DAY) ? LAST_DAY : day;
    }
    if (value instanceof LocalDateTime time) {
      return time.isBefore(FIRST_TIME) ? FIRST_TIME : time.isAfter(LAST_TIME) ? LAST_TIME : time;
    }
    if (value instanceof Instant instant) {
      return ((LocalDateTime) withinRange(LocalDateTime.ofInstant(instant, ZoneOffset.UTC)))
          .toInstant(ZoneOffset.UTC);
    }
    if (value instanceof List<?> list) {
      return list.stream().map(CopyFormatTest::withinRange).collect(Collectors.toList());
    }
    return value;
  }

  @Test
  void valuesAreWhatSqlShows() throws Exception {
    Schema schema =
        Schema.of(
            Field.of("b", DataType.BOOL),
            Field.of("i", DataType.INT8),
            Field.of("l", DataType.INT64),
            Field.of("f", DataType.FLOAT32),
            Field.of("d", DataType.FLOAT64),
            Field.of("n", DataType.decimal(38, 9)),
            Field.of("s", DataType.STRING),
            Field.of("x", DataType.BINARY),
            Field.of("day", DataType.DATE),
            Field.of("t", DataType.TIME),
            Field.of("ts", DataType.timestamp(6)),
            Field.of("tz", DataType.timestamp(3, true)),
            Field.of("a", DataType.list(DataType.STRING)));
    List<List<Object>> rows =
        List.of(
            Arrays.asList(
                true,
                (byte) -128,
                Long.MIN_VALUE,
                Float.NEGATIVE_INFINITY,
                Double.NaN,
                new BigDecimal("-99999999999999999999999999999.999999999"),
                "\u0130\ud83d\ude80",
                ByteBuffer.wrap(new byte[] {0, -1}),
                FIRST_DAY,
                LocalTime.of(23, 59, 59, 999_000_000),
                FIRST_TIME,
                Instant.parse("1969-12-31T23:59:59.999Z"),
                Arrays.asList("a", null, "")),
            Arrays.asList(
                false,
                (byte) 127,
                Long.MAX_VALUE,
                Float.MIN_VALUE,
                -0.0,
                new BigDecimal("0.000000001"),
                "",
                ByteBuffer.wrap(new byte[0]),
                LAST_DAY,
                LocalTime.MIDNIGHT,
                LocalDateTime.of(2026, 2, 28, 1, 2, 3, 456_789_000),
                Instant.parse("2026-03-29T02:30:00Z"),
                List.of()),
            Arrays.asList(new Object[schema.size()]));
    List<String> texts = new ArrayList<>();
    assertThat(throughDatabase("copy_values", schema, rows, texts)).isEqualTo(rows);
    assertThat(texts)
        .containsExactly(
            "(t,-128,-9223372036854775808,-Infinity,NaN,"
                + "-99999999999999999999999999999.999999999,\u0130\ud83d\ude80,\"\\\\x00ff\","
                + "\"4714-11-24 BC\",23:59:59.999,\"4714-11-24 00:00:00 BC\","
                + "\"1969-12-31 23:59:59.999+00\",\"{a,NULL,\"\"\"\"}\")",
            "(f,127,9223372036854775807,1e-45,-0,0.000000001,\"\",\"\\\\x\",5874897-12-31,"
                + "00:00:00,\"2026-02-28 01:02:03.456789\",\"2026-03-29 02:30:00+00\",{})",
            "(,,,,,,,,,,,,)");
  }

  /** Writes rows to a table, adds each as text to {@code texts}, and reads them again. */
  private List<List<Object>> throughDatabase(
      String table, Schema schema, List<List<Object>> rows, List<String> texts) throws Exception {
    String columns =
        schema.fields().stream()
            .map(field -> field.name() + " " + PostgresType.sqlName(field.type()))
            .collect(Collectors.joining(", "));
    try (Connection connection = services.database().connect()) {
      try (var statement = connection.createStatement()) {
        statement.execute("SET TIME ZONE 'UTC'");
        statement.execute("CREATE TABLE " + table + " (nr SERIAL, " + columns + ")");
      }
      String names = String.join(", ", schema.names());
      var copy = connection.unwrap(PGConnection.class).getCopyAPI();
      long copied =
          copy.copyIn(
              "COPY " + table + " (" + names + ") FROM STDIN (FORMAT binary)",
              new ByteArrayInputStream(encode(schema, rows)));
      assertThat(copied).isEqualTo(rows.size());
      if (rows.size() < ROWS) {
        try (var statement = connection.createStatement();
            var result =
                statement.executeQuery(
                    "SELECT ROW(" + names + ")::text FROM " + table + " ORDER BY nr")) {
          while (result.next()) {
            texts.add(result.getString(1));
          }
        }
      }
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      copy.copyOut(
          "COPY (SELECT " + names + " FROM " + table + " ORDER BY nr) TO STDOUT (FORMAT binary)",
          out);
      return decode(schema, out.toByteArray());
    }
  }

  private byte[] encode(Schema schema, List<List<Object>> rows) {
    CopyBinaryEncoder encoder = new CopyBinaryEncoder();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(encoder.fileStart(schema));
    try (Table table = TableBuilder.ofRows(schema, rows).buildOnHost(device);
        AccessScope scope = AccessScope.on(device.hostStream())) {
      out.writeBytes(encoder.encode(table, scope));
    }
    out.writeBytes(encoder.fileEnd());
    return out.toByteArray();
  }

  private List<List<Object>> decode(Schema schema, byte[] bytes) {
    ByteBuffer in =
        ByteBuffer.wrap(bytes, HEADER_BYTES, bytes.length - HEADER_BYTES - TRAILER_BYTES);
    try (CopyBinaryDecoder decoder =
            new CopyBinaryDecoder(
                new RowTableBuilder(schema, device.hostStream(), device.hostMemory()));
        Table table = decoder.decode(in)) {
      return TableRows.ofHost(table, device.hostStream());
    }
  }

  @Test
  void writingRefusesWhatPostgresDoesNotHave() {
    assertRefused(
        DataType.timestamp(6),
        FIRST_TIME.minusNanos(1000),
        "column 'x': the time -210866803200000001 microseconds from 1970-01-01 is out of the range"
            + " of PostgreSQL");
    assertRefused(
        DataType.timestamp(3),
        LocalDateTime.ofInstant(Instant.ofEpochMilli(Long.MAX_VALUE), ZoneOffset.UTC),
        "column 'x': the time 9223372036854775807 milliseconds from 1970-01-01 is out of the range"
            + " of PostgreSQL");
    assertRefused(
        DataType.DATE,
        LAST_DAY.plusDays(1),
        "column 'x': the date 2145042906 days from 1970-01-01 is out of the range of PostgreSQL");
    assertThatThrownBy(
            () ->
                new CopyBinaryEncoder().fileStart(Schema.of(Field.of("x", DataType.timestamp(9)))))
        .hasMessage(
            "column 'x': TIMESTAMP(9) has no form in PostgreSQL, whose timestamps have six digits:"
                + " cast it");
  }

  private void assertRefused(DataType type, Object value, String message) {
    Schema schema = Schema.of(Field.of("x", type));
    assertThatThrownBy(() -> encode(schema, List.of(List.of(value)))).hasMessage(message);
  }

  @Test
  void readingRefusesWhatColumnsDoNotHave() throws Exception {
    assertUnreadable(DataType.DATE, "date 'infinity'", "column 'x': a DATE cannot be infinite");
    assertUnreadable(
        DataType.timestamp(6),
        "timestamp '-infinity'",
        "column 'x': a TIMESTAMP cannot be infinite");
    assertUnreadable(
        DataType.timestamp(6),
        "timestamp '294247-02-01'",
        "column 'x': the year of a TIMESTAMP cannot be 294247 or later");
    assertUnreadable(
        DataType.decimal(38, 2),
        "'NaN'::numeric",
        "column 'x': a DECIMAL cannot be NaN or infinite");
    for (String number : List.of("0.001", "1000", "-99999999999999999999999999999999999.9")) {
      assertUnreadable(
          DataType.decimal(5, 2),
          number + "::numeric",
          "column 'x': a numeric does not fit DECIMAL(5, 2)");
    }
    assertUnreadable(DataType.INT8, "128::smallint", "column 'x': 128 does not fit TINYINT");
    assertUnreadable(
        DataType.INT64, "1::integer", "column 'x': expected a value of 8 bytes, got 4");
    assertUnreadable(
        DataType.list(DataType.INT32),
        "ARRAY[ARRAY[1], ARRAY[2]]",
        "column 'x': expected an array of one dimension and elements of type 23, got 2 dimensions"
            + " and type 23");
  }

  private void assertUnreadable(DataType type, String expression, String message) throws Exception {
    try (Connection connection = services.database().connect()) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      connection
          .unwrap(PGConnection.class)
          .getCopyAPI()
          .copyOut("COPY (SELECT " + expression + ") TO STDOUT (FORMAT binary)", out);
      assertThatThrownBy(() -> decode(Schema.of(Field.of("x", type)), out.toByteArray()))
          .hasMessage(message);
    }
  }
}
