// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.dimension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.postgres.PostgresConnectionOptions;
import io.millrace.operators.lookup.RefreshOptions;
import java.time.Duration;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;

class PostgresDimensionTest {
  private static final Schema COLUMNS =
      Schema.of(
          new Field("shop", DataType.INT32, false),
          new Field("item", DataType.INT64, false),
          Field.of("the \"price\"", DataType.decimal(12, 2)));

  private static PostgresConnectionOptions connection(String password) {
    return PostgresConnectionOptions.of(
        "jdbc:postgresql://localhost/shop?sslmode=require", "reader", () -> password);
  }

  private static PostgresDimension table(String password) {
    return PostgresDimension.ofTable(
        connection(password), "public", "items", COLUMNS, "item", "shop");
  }

  @Test
  void rowsWithoutANullInAKeyAreCopied() {
    assertThat(table("").copy())
        .isEqualTo(
            "COPY (SELECT \"shop\"::integer, \"item\"::bigint, \"the \"\"price\"\"\"::numeric,"
                + " ''::text FROM \"public\".\"items\" AS source WHERE \"item\" IS NOT NULL AND"
                + " \"shop\" IS NOT NULL) TO STDOUT (FORMAT binary)");
    assertThat(
            PostgresDimension.ofQuery(connection(""), "prices", "SELECT 1", COLUMNS, "item").copy())
        .contains(" FROM (SELECT 1) AS source WHERE \"item\" IS NOT NULL)");
  }

  @Test
  void definitionsAreEqualIfAllButThePasswordIs() throws Exception {
    PostgresDimension table = table("a");
    assertThat(table).isEqualTo(table("b")).hasSameHashCodeAs(table("b"));
    assertThat(InstantiationUtil.clone(table)).isEqualTo(table);
    assertThat(table.withRefresh(RefreshOptions.every(Duration.ofHours(1)))).isNotEqualTo(table);
    assertThat(table)
        .isNotEqualTo(
            PostgresDimension.ofTable(
                connection("a").withSocketTimeout(Duration.ofSeconds(1)),
                "public",
                "items",
                COLUMNS,
                "item",
                "shop"));
    assertThat(table)
        .hasToString(
            "PostgreSQL dimension table public.items at jdbc:postgresql://localhost/shop as reader");
  }

  @Test
  void definitionsThatMakeNoSenseAreRefused() {
    assertThatThrownBy(() -> PostgresDimension.ofTable(connection(""), "public", "items", COLUMNS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected a key column");
    assertThatThrownBy(
            () -> PostgresDimension.ofTable(connection(""), "public", "items", COLUMNS, "x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'x'");
    Schema nanos = Schema.of(new Field("t", DataType.timestamp(9), false));
    assertThatThrownBy(
            () -> PostgresDimension.ofTable(connection(""), "public", "items", nanos, "t"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'t'");
  }
}
