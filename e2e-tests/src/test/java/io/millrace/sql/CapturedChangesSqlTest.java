// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.postgres.Sql;
import io.millrace.services.Database;
import io.millrace.services.KafkaTopic;
import io.millrace.services.SharedServices;
import io.millrace.testing.RootLocaleExtension;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Changes of a database that a topic has: the rows of another database's table follow them. */
@ExtendWith(NothingHeldExtension.class)
class CapturedChangesSqlTest {
  private static final String COLUMNS =
      "id BIGINT NOT NULL, name STRING, PRIMARY KEY (id) NOT ENFORCED";

  // Flink's connector writes the names of Kafka's options in the default locale.
  @RegisterExtension static final RootLocaleExtension locale = new RootLocaleExtension();
  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static String change(String operation, String before, String after) {
    return "{\"before\":%s,\"after\":%s,\"op\":\"%s\"}".formatted(before, after, operation);
  }

  private static String row(int id, String name) {
    return "{\"id\":%d,\"name\":\"%s\"}".formatted(id, name);
  }

  private static String captured(KafkaTopic topic) {
    return KafkaTableTest.source("captured", COLUMNS, topic, "'format' = 'debezium-json'");
  }

  private static String stored(String name) {
    Database database = services.database();
    return "CREATE TEMPORARY TABLE stored (%s) WITH ('connector' = 'millrace-postgres', 'url' = '%s', 'table-name' = '%s', 'username' = '%s', 'password' = '%s', 'sink.id' = '%s')"
        .formatted(COLUMNS, database.jdbcUrl(), name, database.user(), database.password(), name);
  }

  @ParameterizedTest
  @EnumSource(
      value = SqlMode.class,
      names = {"ON", "OFF"})
  void rowsOfATableFollowTheChanges(SqlMode mode) throws Exception {
    String name = "sql_captured_" + mode.name().toLowerCase(Locale.ROOT);
    KafkaTopic topic = KafkaTopic.create(services.broker(), name, 1);
    topic.sendValues(
        List.of(
            change("c", "null", row(1, "a")),
            change("c", "null", row(2, "b")),
            change("u", row(1, "a"), row(1, "c")),
            change("d", row(2, "b"), "null"),
            change("c", "null", row(3, "d"))));
    Sql sql = new Sql(services.database());
    sql.execute("CREATE TABLE " + name + " (id bigint PRIMARY KEY, name text)");
    SqlSession session = new SqlSession(flink, mode).with(captured(topic), stored(name));
    String insert = "INSERT INTO stored SELECT id, UPPER(name) FROM captured";
    if (mode == SqlMode.ON) {
      assertThat(session.nodes(insert))
          .isEqualTo(NexmarkQueries.nodes("*Sink *Calc *DropUpdateBefore *TableSourceScan"));
      assertThat(session.plan(insert)).doesNotContain("in=[rows]");
    }
    session.insert(insert);
    assertThat(sql.strings("SELECT id || ' ' || name FROM " + name))
        .containsExactlyInAnyOrder("1 C", "3 D");
  }
}
