// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.sql.table.SqlOptions;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.parity.CollectedRows;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.PlanReference;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.runtime.typeutils.ExternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.DataTypeUtils;
import org.apache.flink.table.types.utils.TypeConversions;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/**
 * A table environment whose queries run on the tests' cluster. Millrace replaces cheap nodes, too:
 * tests are about what it does with them.
 */
final class SqlSession {
  private static final String EXECUTION_PLAN = "== Optimized Execution Plan ==";
  private static final Pattern NODE = Pattern.compile("(?m)^[\\s|:+-]*(\\w+)\\(");
  private static final Pattern SETTING = Pattern.compile("SET '(.*)' = '(.*)'");
  private static final int PARALLELISM = 2;

  private final FlinkCluster cluster;
  private final StreamExecutionEnvironment environment;
  private final StreamTableEnvironment tables;

  SqlSession(FlinkCluster cluster, SqlMode mode) {
    this(cluster, mode, cluster.environment(PARALLELISM));
  }

  /** A session whose jobs have the options of {@code environment}. */
  SqlSession(FlinkCluster cluster, SqlMode mode, StreamExecutionEnvironment environment) {
    this.cluster = cluster;
    this.environment = environment;
    this.tables = StreamTableEnvironment.create(environment);
    tables.getConfig().set(SqlOptions.MODE, mode);
    tables.getConfig().set(SqlOptions.REPLACE_CHEAP_NODES, true);
  }

  /** Runs statements that define tables, views and functions, or SET options. */
  SqlSession with(String... statements) {
    for (String statement : statements) {
      Matcher setting = SETTING.matcher(statement);
      if (setting.matches()) {
        tables.getConfig().set(setting.group(1), setting.group(2));
      } else {
        tables.executeSql(statement);
      }
    }
    return this;
  }

  /**
   * Adds a view of rows.
   *
   * @param columns with their types, as in CREATE TABLE
   */
  SqlSession with(String name, Map<String, String> columns, Row... rows) {
    Schema.Builder schema = Schema.newBuilder();
    columns.forEach(schema::column);
    DataType type =
        DataTypes.ROW(
            columns.entrySet().stream()
                .map(column -> DataTypes.FIELD(column.getKey(), parsed(column.getValue())))
                .toArray(DataTypes.Field[]::new));
    tables.createTemporaryView(
        name,
        tables.fromDataStream(
            environment.fromData(ExternalTypeInfo.of(type), rows), schema.build()));
    return this;
  }

  private static DataType parsed(String type) {
    return TypeConversions.fromLogicalToDataType(
        LogicalTypeParser.parse(type, SqlSession.class.getClassLoader()));
  }

  /** Runs statements INSERT INTO in one job, to its end. */
  void insert(String... statements) throws Exception {
    attach(statements);
    cluster.run(environment);
  }

  /** Starts a job of statements INSERT INTO. */
  FlinkJob submit(String... statements) throws Exception {
    attach(statements);
    return cluster.submit(environment);
  }

  private void attach(String... statements) {
    StreamStatementSet set = tables.createStatementSet();
    for (String statement : statements) {
      set.addInsertSql(statement);
    }
    set.attachAsDataStream();
  }

  /** All that EXPLAIN says of a query. */
  String explanation(String query) {
    return tables.explainSql(query);
  }

  /** All that EXPLAIN says of statements INSERT INTO in one job. */
  String explanation(String first, String second) {
    return tables.createStatementSet().addInsertSql(first).addInsertSql(second).explain();
  }

  /** The nodes of the query's plan that are executed, as EXPLAIN shows them. */
  String plan(String query) {
    String text = explanation(query);
    return text.substring(text.indexOf(EXECUTION_PLAN) + EXECUTION_PLAN.length()).strip();
  }

  /** The compiled plan of an INSERT, as JSON. */
  String compiledPlan(String insert) {
    return tables.compilePlanSql(insert).asJsonString();
  }

  /** Runs a plan of {@link #compiledPlan} in the session's own environment, to its end. */
  void runCompiled(String plan) throws Exception {
    tables.loadPlan(PlanReference.fromJsonString(plan)).execute().await();
  }

  /** The names of the nodes of {@link #plan}, from the sink to the sources. */
  List<String> nodes(String query) {
    return NODE.matcher(plan(query)).results().map(node -> node.group(1)).toList();
  }

  /** The names of the operators of a query's job, which does not run. */
  List<String> operators(String query) {
    tables.toChangelogStream(tables.sqlQuery(query));
    return environment.getStreamGraph().getStreamNodes().stream()
        .map(StreamNode::getOperatorName)
        .toList();
  }

  /** The uids of the operators with names that match {@code pattern}; null for none. */
  List<String> uids(String query, String pattern) {
    tables.toChangelogStream(tables.sqlQuery(query));
    return environment.getStreamGraph().getStreamNodes().stream()
        .filter(node -> node.getOperatorName().matches(pattern))
        .map(StreamNode::getTransformationUID)
        .toList();
  }

  /** The parallelisms of the operators with names that match {@code pattern}. */
  List<Integer> parallelisms(String query, String pattern) {
    tables.toChangelogStream(tables.sqlQuery(query));
    return environment.getStreamGraph().getStreamNodes().stream()
        .filter(node -> node.getOperatorName().matches(pattern))
        .map(StreamNode::getParallelism)
        .toList();
  }

  /** The changes of the query's result; those of a key are in their order. */
  List<Row> changes(String query) throws Exception {
    Table result = tables.sqlQuery(query);
    CollectedRows changes = CollectedRows.of(tables.toChangelogStream(result));
    cluster.run(environment);
    return changes.take();
  }

  /**
   * The rows of the query's result by their keys, after all changes; they come without the rows
   * before updates.
   *
   * @param keys columns of the result
   */
  Map<List<Object>, Row> upserts(String query, String... keys) throws Exception {
    Table result = tables.sqlQuery(query);
    Schema schema = keyed(result.getResolvedSchema(), List.of(keys));
    CollectedRows changes =
        CollectedRows.of(tables.toChangelogStream(result, schema, ChangelogMode.upsert()));
    cluster.run(environment);
    Map<List<Object>, Row> rows = new HashMap<>();
    for (Row change : changes.take()) {
      List<Object> key = Arrays.stream(keys).map(change::getField).toList();
      if (change.getKind() == RowKind.UPDATE_AFTER) {
        assertThat(rows).as("rows before an update").containsKey(key);
      } else {
        assertThat(change.getKind()).isEqualTo(RowKind.INSERT);
      }
      change.setKind(RowKind.INSERT);
      rows.put(key, change);
    }
    return rows;
  }

  private static Schema keyed(ResolvedSchema result, List<String> keys) {
    Schema.Builder schema = Schema.newBuilder();
    for (Column column : result.getColumns()) {
      DataType type = DataTypeUtils.removeTimeAttribute(column.getDataType());
      schema.column(column.getName(), keys.contains(column.getName()) ? type.notNull() : type);
    }
    return schema.primaryKey(keys).build();
  }

  /** The rows of the query's result and how often each occurs, after all changes. */
  Map<Row, Integer> rows(String query) throws Exception {
    Map<Row, Integer> rows = new HashMap<>();
    for (Row change : changes(query)) {
      boolean adds = change.getKind() == RowKind.INSERT || change.getKind() == RowKind.UPDATE_AFTER;
      change.setKind(RowKind.INSERT);
      rows.merge(change, adds ? 1 : -1, (a, b) -> a + b == 0 ? null : a + b);
    }
    return rows;
  }
}
