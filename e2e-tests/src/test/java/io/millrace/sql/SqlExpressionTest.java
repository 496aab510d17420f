// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.sql.NexmarkTables.Content;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Period;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.flink.types.Row;
import org.apache.flink.types.bitmap.Bitmap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Expressions that Flink plans in shapes of their own: Millrace's Calc gives what Flink's gives.
 */
class SqlExpressionTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final Row[] ROWS = {
    Row.of(
        1,
        "{\"a\": {\"b\": [1, 2.5, \"x\"]}, \"n\": 7, \"t\": true, \"s\": \"text\"}",
        LocalDate.of(2024, 2, 29),
        LocalTime.of(23, 59, 58),
        LocalDateTime.of(2024, 12, 31, 23, 59, 59, 999_000_000),
        LocalDateTime.of(2023, 1, 31, 0, 0, 0, 1_000_000),
        Duration.ofMillis(90_061_001),
        Period.ofMonths(13),
        new String[] {"p", null, "q"},
        Map.of("k", 1, "l", 2),
        Row.of(5, Row.of("deep"))),
    Row.of(
        2,
        "[1, {\"n\": \"no number\"}]",
        LocalDate.of(1969, 12, 31),
        LocalTime.MIDNIGHT,
        LocalDateTime.of(1960, 5, 6, 7, 8, 9),
        LocalDateTime.of(1970, 1, 1, 0, 0),
        Duration.ofDays(-2),
        Period.ofMonths(-1),
        new String[] {},
        Map.of(),
        Row.of(null, null)),
    Row.of(3, "no JSON", null, null, null, null, null, null, null, null, null),
    new Row(11)
  };

  private static SqlSession session(SqlMode mode) {
    Map<String, String> columns = new LinkedHashMap<>();
    columns.put("id", "INT");
    columns.put("json", "STRING");
    columns.put("d", "DATE");
    columns.put("t", "TIME(0)");
    columns.put("ts", "TIMESTAMP(3)");
    columns.put("since", "TIMESTAMP(3)");
    columns.put("span", "INTERVAL DAY TO SECOND(3)");
    columns.put("months", "INTERVAL YEAR TO MONTH");
    columns.put("words", "ARRAY<STRING>");
    columns.put("numbers", "MAP<STRING, INT>");
    columns.put("nested", "ROW<i INT, r ROW<s STRING>>");
    return new SqlSession(flink, mode).with("v", columns, ROWS);
  }

  private static void compare(String expressions) throws Exception {
    compare("SELECT id, " + expressions + " FROM v", SqlExpressionTest::session);
  }

  private static void compare(String query, Function<SqlMode, SqlSession> sessions)
      throws Exception {
    SqlSession millrace = sessions.apply(SqlMode.ON);
    assertThat(millrace.plan(query)).contains("MillraceCalc(");
    assertThat(millrace.rows(query)).isEqualTo(sessions.apply(SqlMode.OFF).rows(query));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "JSON_VALUE(json, 'lax $.s'), JSON_VALUE(json, '$.n' RETURNING INT),"
            + " JSON_VALUE(json, 'lax $.t' RETURNING BOOLEAN)",
        "JSON_VALUE(json, 'lax $.a.b[1]' RETURNING DOUBLE NULL ON EMPTY NULL ON ERROR)",
        "JSON_VALUE(json, 'lax $.x' DEFAULT 'none' ON EMPTY), JSON_VALUE(json, 'strict $.x'"
            + " DEFAULT 'wrong' ON ERROR)",
        "JSON_QUERY(json, 'lax $.a.b'), JSON_QUERY(json, 'lax $.s' WITH CONDITIONAL ARRAY WRAPPER),"
            + " JSON_QUERY(json, 'lax $.x' WITH UNCONDITIONAL ARRAY WRAPPER EMPTY ARRAY ON EMPTY),"
            + " JSON_QUERY(json, 'strict $.a' EMPTY OBJECT ON ERROR),"
            + " JSON_QUERY(json, 'lax $.b' RETURNING ARRAY<STRING> EMPTY ARRAY ON EMPTY)",
        "JSON_UNQUOTE(json), JSON_OBJECT('j' VALUE JSON(JSON_QUOTE(json)))",
        "JSON_EXISTS(json, 'lax $.a'), JSON_EXISTS(json, 'strict $.a.x' TRUE ON ERROR),"
            + " JSON_EXISTS(json, 'strict $.n' UNKNOWN ON ERROR)",
        "json IS JSON, json IS NOT JSON, json IS JSON OBJECT, json IS NOT JSON ARRAY,"
            + " json IS JSON SCALAR, json IS JSON ARRAY, json IS NOT JSON OBJECT",
        "JSON_OBJECT(KEY 'k' VALUE id, KEY 'j' VALUE json NULL ON NULL),"
            + " JSON_OBJECT('d' VALUE JSON_ARRAY(id, json) ABSENT ON NULL),"
            + " JSON_OBJECT('ts' VALUE ts), JSON_OBJECT()",
        "JSON_ARRAY(id, json), JSON_ARRAY(json, JSON_OBJECT('i' VALUE id) NULL ON NULL),"
            + " JSON_ARRAY()",
        "JSON_STRING(json), JSON_STRING(id), JSON_STRING(ts), JSON_QUOTE(json)"
      })
  void json(String expressions) throws Exception {
    compare(expressions);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ts + span, ts - span, span + ts, ts + INTERVAL '1' MONTH, ts - INTERVAL '2.5' SECOND",
        "d + span, d - INTERVAL '3' DAY, d + INTERVAL '1' YEAR, d + months",
        "t + span, t - INTERVAL '90' MINUTE, ts + months, ts - months, since - months",
        "(ts - since) DAY TO SECOND, (ts - since) MONTH, (d - CAST(since AS DATE)) DAY",
        "span + INTERVAL '1' HOUR, months - INTERVAL '2' MONTH, span, months",
        "span > INTERVAL '1' DAY, months IS NULL, span * id, COALESCE(span, INTERVAL '1' SECOND)",
        "(since, ts) OVERLAPS (TIMESTAMP '2023-06-01 00:00:00', INTERVAL '1' DAY),"
            + " (d, months) OVERLAPS (d, INTERVAL '2' MONTH)",
        "ts + (CASE WHEN id = 1 THEN span ELSE INTERVAL '1' DAY END)"
      })
  void intervals(String expressions) throws Exception {
    compare(expressions);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "TYPEOF(json), TYPEOF(ts, TRUE), TYPEOF(nested), UPPER(CURRENT_DATABASE())",
        "words[1], words[3], words[id], numbers['k'], numbers['none'], CARDINALITY(words),"
            + " CARDINALITY(numbers)",
        "ROW(id, json), ARRAY[id, 7], MAP['a', id, 'b', 3], ARRAY[json, 'x'][2]",
        "nested.i + 1, nested.r.s, nested.r, CHAR_LENGTH(nested.r.s), ROW(id, json).EXPR$1",
        "CAST(ROW(id, json) AS ROW<a INT, b STRING>).b, CAST(ROW(id, json) AS ROW<a INT, b STRING>)",
        "CAST(ROW(id, ts, json) AS ROW<a BIGINT, b STRING, c CHAR(2)>), CAST(ROW(ROW(id), t) AS"
            + " ROW<r ROW<d DOUBLE>, t STRING>)",
        "ARRAY[CAST(ROW(id, json) AS ROW<a INT, b STRING>)][1].b, MAP['k', ROW(json, id)]['k']",
        "CAST(t AS STRING), CAST(t + INTERVAL '1' SECOND AS CHAR(3)), TRY_CAST(t AS STRING)",
        "x'00ff', TRY_CAST(json AS INT), COALESCE(MAP['a', months]['a'], months)",
        "ROW(ROW(id), id), ROW(ROW(json), id).EXPR$0.EXPR$0, id + 1"
      })
  void nestedValuesAndConstants(String expressions) throws Exception {
    compare(expressions);
  }

  private static SqlSession sessionOfConstants(SqlMode mode) {
    Map<String, String> columns = new LinkedHashMap<>();
    columns.put("id", "INT");
    columns.put("s", "STRING");
    columns.put("f", "DOUBLE");
    columns.put("d", "DECIMAL(10, 2)");
    columns.put("ts", "TIMESTAMP(3)");
    columns.put("bin", "BYTES");
    LocalDateTime time = LocalDateTime.of(2024, 2, 29, 0, 0);
    return new SqlSession(flink, mode)
        .with(
            "v",
            columns,
            Row.of(1, " ", -0.0, new BigDecimal("1.00"), time, new byte[] {1}),
            Row.of(2, "", 0.0, new BigDecimal("2.50"), time.minusNanos(1_000_000), new byte[0]),
            Row.of(3, "a", Double.NaN, new BigDecimal("-1.00"), time.plusDays(1), new byte[] {2}),
            Row.of(4, "a ", 1.0, BigDecimal.ZERO, time.plusYears(1), new byte[] {1, 0}),
            Row.of(5, "a  ", 5.5, new BigDecimal("3.00"), time.minusYears(60), new byte[] {-1}),
            Row.of(6, "\t", -5.5, new BigDecimal("9.99"), time, new byte[] {9}),
            Row.of(7, null, null, null, null, null));
  }

  /** The planner makes one SEARCH of comparisons of a value with constants. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "s IN (' ', 'x'), s NOT IN (' ', '-'), s IN ('a ', 'b '), s NOT IN ('a', 'b'), s IN ('', 'a ')",
        "s BETWEEN ' ' AND '~', s NOT BETWEEN ' ' AND '~', s > ' ' AND s <= 'z', s < ' ' OR s > 'a '",
        "CAST(s AS CHAR(2)) IN ('a ', '  '), CAST(s AS CHAR(2)) BETWEEN '  ' AND 'a ', s IS NULL OR s IN ('a ', 'b ')",
        "f IN (0, 1), f NOT IN (0, 1), f BETWEEN 0 AND 5, f NOT BETWEEN 0 AND 5, f IN (0, 1) OR f > 5",
        "f < 0 OR f > 5, f IN (1, 5.5) AND f IS NOT NULL, f NOT IN (1, 5.5) OR f IS NULL",
        "d IN (1, 2.5, 3), d NOT IN (1, 2.5), d BETWEEN -1 AND 2.5, d > 1 AND d < 3 OR d = 9.99, d <> 1 AND d <> 3",
        "ts IN (TIMESTAMP '2024-02-29 00:00:00', TIMESTAMP '2025-02-28 00:00:00'),"
            + " ts > TIMESTAMP '2024-02-28 23:59:59.999' AND ts <= TIMESTAMP '2024-03-01 00:00:00'",
        "id IN (1, 3, 5), id NOT IN (1, 3, 5), id IN (1, 3) OR id >= 6, id IS NOT NULL AND id < 3, id IN (7, 8, 9, 10, 11, 12, 13, 14, 15)"
      })
  void comparisonsWithConstants(String expressions) throws Exception {
    String query = "SELECT id + 1, " + expressions + " FROM v";
    SqlSession millrace = sessionOfConstants(SqlMode.ON);
    assertThat(millrace.explanation(query)).contains("SEARCH(", "MillraceCalc(");
    assertThat(millrace.rows(query)).isEqualTo(sessionOfConstants(SqlMode.OFF).rows(query));
  }

  @ParameterizedTest
  @ValueSource(strings = {"f IS NULL OR f = 0", "bin IN (x'01', x'02')"})
  void constantsThatFlinkFindsInAWayOfItsOwn(String expression) throws Exception {
    String query = "SELECT id + 1, " + expression + " FROM v";
    SqlSession millrace = sessionOfConstants(SqlMode.ON);
    assertThat(millrace.explanation(query)).contains("millrace=[no: a list of ");
    assertThat(millrace.rows(query)).isEqualTo(sessionOfConstants(SqlMode.OFF).rows(query));
  }

  private static SqlSession sessionOfBitmaps(SqlMode mode) {
    Map<String, String> columns = new LinkedHashMap<>();
    columns.put("id", "INT");
    columns.put("b", "BITMAP");
    columns.put("c", "BITMAP");
    columns.put("a", "ARRAY<INT>");
    Bitmap odd = Bitmap.empty();
    for (int i = 1; i < 20_000; i += 2) {
      odd.add(i);
    }
    Bitmap few = Bitmap.fromArray(new int[] {-1, 3, 4, 1 << 20});
    Bitmap run = Bitmap.empty();
    run.add(0L, 70_000L);
    return new SqlSession(flink, mode)
        .with(
            "v",
            columns,
            Row.of(1, odd, few, new Integer[] {5, null, -7, 5}),
            Row.of(2, few, run, new Integer[] {}),
            Row.of(3, Bitmap.empty(), odd, null),
            Row.of(4, run, null, new Integer[] {0}),
            new Row(4));
  }

  /** Flink's functions of bitmaps are called, also between operators on batches. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT id, b, BITMAP_CARDINALITY(c), BITMAP_TO_STRING(c), BITMAP_TO_ARRAY(c) FROM v",
        "SELECT id, BITMAP_AND(b, c), BITMAP_OR(b, c), BITMAP_XOR(b, c), BITMAP_ANDNOT(b, c) FROM v",
        "SELECT BITMAP_BUILD(a), BITMAP_TO_BYTES(b), BITMAP_FROM_BYTES(BITMAP_TO_BYTES(c)) FROM v",
        "SELECT CASE WHEN id = 1 THEN b ELSE c END, COALESCE(c, b), b IS NULL FROM v",
        "SELECT ARRAY[b, c], ROW(id, b), MAP['k', BITMAP_OR(c, b)] FROM v",
        "SELECT CAST(NULL AS BITMAP), BITMAP_CARDINALITY(BITMAP_BUILD(ARRAY[id, 7])) FROM v",
        "SELECT BITMAP_CARDINALITY(b), COUNT(*), LAST_VALUE(id) FROM v GROUP BY BITMAP_CARDINALITY(b)",
        "SELECT BITMAP_OR(BITMAP_AND(b, c), BITMAP_BUILD(a)), BITMAP_TO_BYTES(BITMAP_AND(b, c)) FROM v",
        "SELECT id, BITMAP_TO_STRING(FIRST_VALUE(c)) FROM v GROUP BY id"
      })
  void bitmaps(String query) throws Exception {
    compare(query, SqlExpressionTest::sessionOfBitmaps);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT id + 1, b = c, b <> c FROM v WHERE b = b",
        "SELECT id + 1, b IS DISTINCT FROM c FROM v",
        "SELECT id + 1, ARRAY_CONTAINS(ARRAY[b, c], c) FROM v",
        "SELECT id + 1, BITMAP_TO_BYTES(BITMAP_AND(b, BITMAP_BUILD(a))) FROM v"
      })
  void flinkLooksIntoBitmaps(String query) throws Exception {
    SqlSession millrace = sessionOfBitmaps(SqlMode.ON);
    assertThat(millrace.explanation(query))
        .containsAnyOf(
            "millrace=[no: bitmaps are compared", "may give other bytes for the same bitmap");
    assertThat(millrace.rows(query)).isEqualTo(sessionOfBitmaps(SqlMode.OFF).rows(query));
  }

  private static SqlSession sessionOfPairs(SqlMode mode) {
    Map<String, String> columns = new LinkedHashMap<>();
    columns.put("id", "INT");
    columns.put("m18", "DECIMAL(38, 18)");
    columns.put("m2", "DECIMAL(9, 2)");
    columns.put("m0", "DECIMAL(38, 0)");
    columns.put("f", "FLOAT");
    columns.put("d", "DOUBLE");
    columns.put("ts", "TIMESTAMP(3)");
    columns.put("ts6", "TIMESTAMP(6)");
    columns.put("z", "TIMESTAMP_LTZ(3)");
    columns.put("z6", "TIMESTAMP_LTZ(6)");
    columns.put("t0", "TIME(0)");
    columns.put("t3", "TIME(3)");
    BigDecimal tenth = new BigDecimal("0.100000000000000000");
    return new SqlSession(flink, mode)
        .with("SET 'table.local-time-zone' = 'Europe/Berlin'")
        .with(
            "v",
            columns,
            // Clocks are set back from 03:00 to 02:00, at 01:00 of UTC.
            pair(1, tenth, "1.50", "0", 0.1f, 0.1, "2026-10-25T02:30", "2026-10-25T01:15:00Z"),
            pair(2, tenth, "0.00", "2", 1e10f, 1e10, "2026-10-25T02:15", "2026-10-25T00:15:00Z"),
            pair(3, tenth, "-1.00", "-1", 1.5f, -0.0, "2026-10-25T03:00", "2026-10-25T00:45:00Z"),
            // And from 02:00 to 03:00.
            pair(
                4,
                tenth,
                "1.00",
                "1",
                16777216f,
                16777217,
                "2026-03-29T02:30",
                "2026-03-29T01:15:00Z"),
            pair(5, tenth, "0.00", "0", -0.0f, 0.0, "2026-03-29T03:15", "2026-03-29T01:15:00Z"),
            new Row(12));
  }

  private static Row pair(
      int id, BigDecimal m18, String m2, String m0, float f, double d, String ts, String z) {
    LocalDateTime local = LocalDateTime.parse(ts);
    Instant instant = Instant.parse(z);
    return Row.of(
        id,
        m18,
        new BigDecimal(m2),
        new BigDecimal(m0),
        f,
        d,
        local,
        local,
        instant,
        instant,
        LocalTime.of(1, 2, 3),
        LocalTime.of(1, 2, 3, 500_000_000));
  }

  /** Where the plan has no casts, generated code compares values as they are. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "m18 IN (m0), m2 IN (m0), m18 NOT IN (m0, m2), m18 = m0, m18 <> m0, m2 = m0",
        "m18 IS DISTINCT FROM m0, m18 IS NOT DISTINCT FROM m0, m2 IS DISTINCT FROM m0",
        "m2 IS DISTINCT FROM d, m0 IS NOT DISTINCT FROM d, m2 = d, m0 <> d, m2 < d, m0 >= f",
        "f IS DISTINCT FROM d, d IS NOT DISTINCT FROM f, f = d, d = f, f <> d, f IN (d), f < d",
        "f BETWEEN 0.5 AND 1.5 OR f = CAST(0.1 AS DOUBLE), f BETWEEN -0.0 AND 1.5 OR f IN (16777217, -0.0, 1e10)",
        "ts < z, ts <= z, ts > z, ts >= z, z < ts, z >= ts, ts BETWEEN z AND z6",
        "ts6 < z, z6 <= ts, ts < z6, z >= ts6, ts6 > z6, z6 < ts6",
        "ts = z, z = ts, ts <> z, ts6 = z, z6 = ts, ts = z6, z = ts6",
        "ts IS DISTINCT FROM z, z IS DISTINCT FROM ts, z6 IS DISTINCT FROM ts, ts6 IS NOT DISTINCT FROM z",
        "IF(id > 2, t0, t3), IF(id > 2, t3, t0), COALESCE(t0, t3)",
        "TIMESTAMPDIFF(SECOND, ts, ts6), TIMESTAMPDIFF(DAY, ts, TIMESTAMP '2026-01-01 00:00:00'), TIMESTAMPDIFF(YEAR, ts, TIMESTAMP '1970-01-01 00:00:00')"
      })
  void comparisonsOfDifferentTypes(String expressions) throws Exception {
    compare("SELECT id + 1, " + expressions + " FROM v", SqlExpressionTest::sessionOfPairs);
  }

  /** With a value for each comparison it would be 42 % of the 20,000 rows. */
  @Test
  void aRandomValueIsComparedAsAWhole() throws Exception {
    String query = "SELECT COUNT(*) FROM bid WHERE CAST(RAND() * 10 AS INT) BETWEEN 3 AND 5";
    SqlSession millrace = NexmarkQueries.session(flink, SqlMode.ON, Content.BID_BATCHES);
    assertThat(millrace.explanation(query)).contains("SEARCH(", "MillraceCalc(");
    Row row = millrace.rows(query).keySet().iterator().next();
    assertThat((Long) row.getField(0)).isBetween(5_500L, 6_500L);
  }
}
