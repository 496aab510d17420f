// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.postgres.sink.PostgresSinkOptions;
import io.millrace.connectors.postgres.sink.PostgresSinks;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.TableSourceOperator;
import io.millrace.services.SharedServices;
import java.util.List;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What does not fit a table is said before it is too late, and in words. */
@ExtendWith(NothingHeldExtension.class)
class WrongTableTest {
  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private Sql sql;

  @BeforeEach
  void connect() {
    sql = new Sql(services.database());
  }

  private void assertFails(
      Schema schema, PostgresSinkOptions options, List<Object> row, String message) {
    StreamExecutionEnvironment environment = flink.environment(1);
    PostgresSinks.write(
        TableSourceOperator.batches(environment.fromSequence(0, 0), schema, i -> List.of(row)),
        schema,
        options);
    assertThatThrownBy(() -> flink.run(environment)).hasMessageContaining(message);
  }

  @Test
  void eachDifferenceIsNamed() throws Exception {
    sql.execute(
        "CREATE TABLE differs (a integer, b numeric(10, 2), c text NOT NULL, d timestamp(0),"
            + " e bigint GENERATED ALWAYS AS IDENTITY, f text NOT NULL, g varchar(3), h float8,"
            + " j numeric(10, 2)[], k timestamp(0)[], l numeric(11, 2)[])");
    Schema schema =
        Schema.of(
            Field.of("a", DataType.INT64),
            Field.of("b", DataType.decimal(11, 2)),
            Field.of("c", DataType.STRING),
            Field.of("d", DataType.timestamp(3)),
            Field.of("e", DataType.INT64),
            Field.of("g", DataType.STRING),
            Field.of("h", DataType.FLOAT64),
            Field.of("i", DataType.BOOL),
            Field.of("j", DataType.list(DataType.decimal(11, 2))),
            Field.of("k", DataType.list(DataType.timestamp(3))),
            Field.of("l", DataType.list(DataType.decimal(11, 2))));
    assertFails(
        schema,
        PostgresJobs.sink(services.database(), "differs").build(),
        List.of(),
        """
        the stream does not fit the table public.differs:
          column 'a': expected bigint for BIGINT, got integer
          column 'b': expected numeric(11, 2) or wider for DECIMAL(11, 2), got numeric(10,2)
          column 'c': nullable in the stream, NOT NULL in the table
          column 'd': expected timestamp without time zone for TIMESTAMP(3), got timestamp(0) without time zone
          column 'e': the table generates its values
          column 'i': the table has no such column; it has a, b, c, d, e, f, g, h, j, k, l
          column 'j': expected an array of numeric(11, 2) or wider for ARRAY<DECIMAL(11, 2)>, got numeric(10,2)[]
          column 'k': expected an array of timestamp without time zone for ARRAY<TIMESTAMP(3)>, got timestamp(0) without time zone[]
          column 'f': NOT NULL without a default, and not in the stream
        """
            .strip());
  }

  private static final Schema ONE = Schema.of(new Field("x", DataType.INT32, false));

  @Test
  void missingTable() {
    assertFails(
        ONE,
        PostgresJobs.sink(services.database(), "nowhere").build(),
        List.of(1),
        "there is no table public.nowhere with columns that this user may see");
  }

  @Test
  void keysNeedAnIndexOfTheirOwn() throws Exception {
    sql.execute(
        "CREATE TABLE unkeyed (x integer NOT NULL, y integer NOT NULL, UNIQUE (x, y))",
        "CREATE UNIQUE INDEX ON unkeyed (x) WHERE y > 0",
        "CREATE UNIQUE INDEX ON unkeyed (y) INCLUDE (x)",
        "ALTER TABLE unkeyed ALTER y SET DEFAULT 0");
    assertFails(
        ONE,
        PostgresJobs.sink(services.database(), "unkeyed").keys("x").build(),
        List.of(1),
        "the table has no unique index on exactly the key columns x");
  }

  /** What the table refuses is refused before the checkpoint, not by each attempt to commit. */
  @Test
  void valuesAreRefusedWhenTheyAreStaged() throws Exception {
    sql.execute("CREATE TABLE short_text (x varchar(3))");
    Schema schema = Schema.of(Field.of("x", DataType.STRING));
    PostgresSinkOptions options = PostgresJobs.sink(services.database(), "short_text").build();
    assertFails(
        schema,
        options,
        List.of("long"),
        "rows cannot be staged: ERROR: value too long for type character varying(3)");
    assertFails(
        schema,
        options,
        List.of("a\0b"),
        "rows cannot be staged: ERROR: invalid byte sequence for encoding \"UTF8\": 0x00");
    assertThat(sql.number("SELECT count(*) FROM short_text")).isZero();
  }
}
