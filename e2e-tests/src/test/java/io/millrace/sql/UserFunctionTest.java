// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.millrace.expression.error.EvaluationException;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.sql.NexmarkTables.Content;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions of users: Millrace's Calc gives what Flink's gives, or EXPLAIN says why not. */
class UserFunctionTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final Map<String, String> COLUMNS = new LinkedHashMap<>();
  private static final Row[] ROWS = {
    Row.of(
        1,
        7L,
        1,
        "a céc",
        new BigDecimal("12.34"),
        LocalDate.of(2024, 2, 29),
        LocalTime.of(23, 59, 0),
        LocalDateTime.of(1960, 1, 2, 3, 4, 5, 678_000_000),
        Instant.ofEpochMilli(-1),
        true,
        1.5,
        2.5f,
        (byte) -3,
        new byte[] {1, 0},
        Duration.ofMillis(-1),
        new String[] {"p", null, "long"},
        Map.of("k", 1),
        Row.of(5, Row.of("deep"))),
    Row.of(
        2,
        Long.MIN_VALUE,
        null,
        "",
        new BigDecimal("-99999999.99"),
        LocalDate.EPOCH,
        LocalTime.MIDNIGHT,
        LocalDateTime.of(2024, 1, 1, 0, 0),
        Instant.ofEpochSecond(1_700_000_000L),
        false,
        Double.NaN,
        Float.MIN_VALUE,
        (byte) 4,
        new byte[0],
        Duration.ofDays(3),
        new String[0],
        Map.of(),
        Row.of(null, Row.of((String) null))),
    Row.of(
        3, 5L, 3, null, null, null, null, null, null, null, null, null, null, null, null, null,
        null, null)
  };

  static {
    COLUMNS.put("id", "INT NOT NULL");
    COLUMNS.put("big", "BIGINT NOT NULL");
    COLUMNS.put("n", "INT");
    COLUMNS.put("s", "STRING");
    COLUMNS.put("d", "DECIMAL(10, 2)");
    COLUMNS.put("dated", "DATE");
    COLUMNS.put("t", "TIME(0)");
    COLUMNS.put("ts", "TIMESTAMP(3)");
    COLUMNS.put("ltz", "TIMESTAMP_LTZ(3)");
    COLUMNS.put("b", "BOOLEAN");
    COLUMNS.put("f", "DOUBLE");
    COLUMNS.put("f4", "FLOAT");
    COLUMNS.put("i1", "TINYINT");
    COLUMNS.put("bin", "BYTES");
    COLUMNS.put("span", "INTERVAL DAY TO SECOND(3)");
    COLUMNS.put("words", "ARRAY<STRING>");
    COLUMNS.put("numbers", "MAP<STRING, INT>");
    COLUMNS.put("nested", "ROW<i INT, r ROW<s STRING>>");
  }

  private static SqlSession session(SqlMode mode) {
    SqlSession session = new SqlSession(flink, mode).with("v", COLUMNS, ROWS);
    for (Class<?> function : JavaFunctions.class.getDeclaredClasses()) {
      session.with(function(function.getSimpleName(), function));
    }
    return session
        .with(function("count_char", CountChar.class))
        .with(function("count_char_device", CountCharOnDevice.class));
  }

  private static String function(String name, Class<?> function) {
    return "CREATE FUNCTION `%s` AS '%s'".formatted(name, function.getName());
  }

  static Stream<String> expressions() {
    return Stream.of(
        "Half(big), Half(Half(big) + 4)",
        "Described(n), CHAR_LENGTH(Described(n)), COALESCE(Described(n), 'none')",
        "Several(n), Several(big), Several(s), Several(n, s), Several(1), Several(CAST(NULL AS INT))",
        "Joined(', ', s, 'x', s), Joined('-'), Joined('/', s)",
        "Types(d), Types(dated), Types(t), Types(ts), Types(ltz)",
        "Types(b), Types(f), Types(f4), Types(i1), Types(bin), Types(span)",
        "Internal(s), Internal(ts)",
        "Nested(words), Nested(numbers), Nested(nested), Nested(nested).s, Nested(words)[3]",
        "`Upper`(s), UPPER(`Upper`(s))",
        "Added(n, big), Added(id, 1)",
        "UnitPrice(f, n), UnitPrice(f, -id), UnitPrice(CAST(f4 AS DOUBLE), id)",
        "CASE WHEN n = 1 THEN Throwing(n) ELSE Throwing(7) END",
        "count_char(s, 'c'), count_char_device(s, 'c'), count_char(s, CAST(NULL AS STRING)),"
            + " count_char_device(s, s)");
  }

  @ParameterizedTest
  @MethodSource("expressions")
  void givesFlinksValues(String expressions) throws Exception {
    String query = "SELECT id + 1, " + expressions + " FROM v";
    SqlSession millrace = session(SqlMode.ON);
    assertThat(millrace.plan(query)).contains("MillraceCalc(");
    assertThat(millrace.rows(query)).hasSize(3).isEqualTo(session(SqlMode.OFF).rows(query));
  }

  @Test
  void filters() throws Exception {
    String query = "SELECT s FROM v WHERE Described(n) = 'nothing' OR Half(big) = 3";
    SqlSession millrace = session(SqlMode.ON);
    assertThat(millrace.plan(query)).contains("MillraceCalc(");
    assertThat(millrace.rows(query)).hasSize(2).isEqualTo(session(SqlMode.OFF).rows(query));
  }

  static Stream<Arguments> hostReasons() {
    return Stream.of(
        arguments("Half(big)", "HALF: plain Java of the user"),
        arguments("Added(n, big)", "ADDED: plain Java of the user"),
        arguments("Misnamed(id)", "MISNAMED: its PTX has no function misnamed"),
        arguments("Misnamed(n)", "MISNAMED: eval is asked about nulls"),
        arguments(
            "Misplaced(id)",
            "MISPLACED: its PTX cannot be read: %s has no resource misplaced.ptx"
                .formatted(JavaFunctions.Misplaced.class.getName())),
        arguments("Texts(s)", "TEXTS: a device function cannot give a STRING"));
  }

  @ParameterizedTest
  @MethodSource
  void hostReasons(String expression, String reason) {
    assertThat(session(SqlMode.ON).plan("SELECT id + 1, " + expression + " FROM v"))
        .contains("host=[[" + reason + "]]");
  }

  @ParameterizedTest
  @ValueSource(strings = {"count_char_device(s, 'c')", "UnitPrice(f, n)"})
  void aDeviceFunctionNeedsNoHost(String call) {
    assertThat(session(SqlMode.ON).plan("SELECT id + 1, " + call + " FROM v"))
        .contains("MillraceCalc(")
        .doesNotContain("host=");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"Dice(n) | function Dice is not deterministic"})
  void whatStaysFlinks(String expression, String reason) throws Exception {
    String query = "SELECT id + 1, " + expression + " FROM v";
    SqlSession millrace = session(SqlMode.ON);
    assertThat(millrace.plan(query)).startsWith("Calc(").contains("millrace=[no: " + reason + "]");
    assertThat(millrace.rows(query)).isEqualTo(session(SqlMode.OFF).rows(query));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Opened", "OpenedColumns"})
  void functionsAreOpenedOnceAndClosed(String function) throws Exception {
    String query = "SELECT id + 1, %1$s(n), %1$s(id) FROM v".formatted(function);
    String[] greeting = {"SET 'pipeline.global-job-parameters' = 'greeting:hello'"};
    SqlSession millrace = session(SqlMode.ON).with(greeting);
    assertThat(millrace.plan(query)).startsWith("MillraceCalc(");
    JavaFunctions.Opened.OPENED.set(0);
    JavaFunctions.Opened.CLOSED.set(0);
    Map<Row, Integer> rows = millrace.rows(query);
    assertThat(rows.keySet()).extracting(row -> row.getField(2)).contains("hello1");
    assertThat(JavaFunctions.Opened.OPENED).hasPositiveValue();
    assertThat(JavaFunctions.Opened.CLOSED).hasValue(JavaFunctions.Opened.OPENED.get());
    assertThat(rows).isEqualTo(session(SqlMode.OFF).with(greeting).rows(query));
  }

  @Test
  void functionsOfWatermarksAreOpenedAndClosed() throws Exception {
    SqlSession millrace = sessionOfOpenedWatermarks(SqlMode.ON, Content.BID_BATCHES);
    String query = NexmarkQueries.sql("window");
    assertThat(millrace.nodes(query)).contains("MillraceWatermarkAssigner");
    JavaFunctions.Opened.OPENED.set(0);
    JavaFunctions.Opened.CLOSED.set(0);
    Map<Row, Integer> rows = millrace.rows(query);
    assertThat(JavaFunctions.Opened.OPENED).hasPositiveValue();
    assertThat(JavaFunctions.Opened.CLOSED).hasValue(JavaFunctions.Opened.OPENED.get());
    assertThat(rows)
        .isNotEmpty()
        .isEqualTo(sessionOfOpenedWatermarks(SqlMode.OFF, Content.BID_ROWS).rows(query));
  }

  private static SqlSession sessionOfOpenedWatermarks(SqlMode mode, Content content) {
    String table = content.createTable("bid", 20_000);
    String watermark = "AS date_time - INTERVAL '4' SECOND";
    assertThat(table).contains(watermark);
    return new SqlSession(flink, mode)
        .with(function("Opened", JavaFunctions.Opened.class))
        .with(
            table.replace(
                watermark,
                "AS CASE WHEN Opened(CAST(auction AS INT)) <> '' THEN date_time - INTERVAL '4'"
                    + " SECOND END"));
  }

  @Test
  void functionsAreClosedBehindAFailure() {
    JavaFunctions.Opened.OPENED.set(0);
    JavaFunctions.Opened.CLOSED.set(0);
    assertThatThrownBy(() -> session(SqlMode.ON).rows("SELECT Opened(id + 98) FROM v"))
        .hasStackTraceContaining("OPENED(");
    assertThat(JavaFunctions.Opened.OPENED).hasPositiveValue();
    assertThat(JavaFunctions.Opened.CLOSED).hasValue(JavaFunctions.Opened.OPENED.get());
  }

  @Test
  void javaAloneIsNoReasonToMakeBatches() {
    assertThat(
            session(SqlMode.ON)
                .with("SET 'millrace.sql.replace-cheap-nodes' = 'false'")
                .plan("SELECT Half(Half(big)), s FROM v"))
        .startsWith("Calc(")
        .contains("millrace=[no: it does too little to make batches of rows]");
  }

  @Test
  void anAggregateOfTheUserIsTheReason() {
    assertThat(session(SqlMode.ON).plan("SELECT id, Longest(s) FROM v GROUP BY id"))
        .contains("millrace=[no: function Longest is Java code of the user]");
  }

  @Test
  void anAggregateOverWindowsOfTheUserIsTheReason() {
    assertThat(
            NexmarkQueries.session(flink, SqlMode.ON, NexmarkTables.Content.BID_BATCHES)
                .plan(NexmarkQueries.sql("weightedOfWindow")))
        .containsPattern(
            "WindowAggregate\\(.*millrace=\\[no: DISTINCT and user-defined functions are not supported in windows");
  }

  @Test
  void aRowForWhichADeviceFunctionFailsHasTheExceptionOfEval() {
    String query = "SELECT id + 1, UnitPrice(CAST(id AS DOUBLE), id - 2) FROM v";
    assertThatThrownBy(() -> session(SqlMode.ON).rows(query))
        .hasStackTraceContaining("UNITPRICE(")
        .hasStackTraceContaining("a price of no units");
    assertThatThrownBy(() -> session(SqlMode.OFF).rows(query))
        .hasStackTraceContaining("a price of no units");
  }

  @Test
  void aRowForWhichAFunctionThrowsIsNamed() {
    assertThatThrownBy(() -> session(SqlMode.ON).rows("SELECT id + 1, Throwing(id) FROM v"))
        .hasStackTraceContaining("the function threw an exception in THROWING(id) at row")
        .hasStackTraceContaining(EvaluationException.class.getName())
        .hasStackTraceContaining("values 2")
        .hasStackTraceContaining("java.lang.Exception: two");
  }
}
