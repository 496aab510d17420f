// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.jobs.operator.LastRowFunction;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.aggregate.TwoPhasePlan;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.api.KeyedColumnStream;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.SchemaParser;
import io.millrace.operators.sql.SqlAggregate;
import io.millrace.operators.sql.SqlExpressions;
import io.millrace.operators.sql.SqlTextException;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.window.WindowAggregatePlan;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.types.Row;

/**
 * The aggregates of a job by key, or by key and window.
 *
 * @param window empty if rows are grouped by key alone
 * @param plan of the aggregates by key alone
 * @param stateTtl how long a key without rows stays; zero: for ever
 * @param isTwoPhase whether rows of a key are combined in front of the exchange
 */
record EtlGrouping(
    List<String> keys,
    List<Aggregate> aggregates,
    Optional<EtlWindow> window,
    GroupAggregatePlan plan,
    Duration stateTtl,
    boolean isTwoPhase) {
  /** The column that says what a row does, with Flink SQL's name and values. */
  static final String OPERATION = "op";

  /**
   * The grouping of rows of {@code selected}; empty if there is none.
   *
   * @param failedRowsAreSkipped whether no aggregate may fail for a row, because only rows that the
   *     selection fails for are skipped
   * @throws SqlTextException if a text has no aggregates of these columns
   * @throws UsageException if a key or an aggregate does not fit the columns
   */
  static Optional<EtlGrouping> parse(
      Configuration configuration, Schema selected, boolean failedRowsAreSkipped) {
    Optional<String> keysText = configuration.getOptional(EtlOptions.GROUP_BY_KEYS);
    if (keysText.isEmpty()) {
      return Optional.empty();
    }
    String option = EtlOptions.GROUP_BY_AGGREGATES.key();
    String text =
        configuration
            .getOptional(EtlOptions.GROUP_BY_AGGREGATES)
            .orElseThrow(() -> new UsageException("group-by.keys needs " + option));
    List<String> keys = SchemaParser.parseNames(keysText.get());
    List<SqlAggregate> parsed =
        SqlExpressions.parseAggregates(option, text, selected, SchemaParser::parseType);
    if (failedRowsAreSkipped) {
      parsed.forEach(aggregate -> checkCannotFail(aggregate, selected));
    }
    List<Aggregate> aggregates = parsed.stream().map(SqlAggregate::aggregate).toList();
    try {
      GroupAggregatePlan plan =
          new GroupAggregatePlan(selected, keys, aggregates, ExpressionSettings.DEFAULT);
      Optional<EtlWindow> window = EtlWindow.parse(configuration);
      EtlGrouping grouping =
          new EtlGrouping(
              keys,
              aggregates,
              window,
              plan,
              stateTtl(configuration),
              configuration.get(EtlOptions.GROUP_BY_TWO_PHASE));
      grouping.check(selected);
      return Optional.of(grouping);
    } catch (ExpressionException e) {
      throw new UsageException("group-by: " + e.getMessage());
    }
  }

  private void check(Schema selected) {
    if (window.isPresent()) {
      Schema rows = window.get().plan(selected, keys, aggregates).outputSchema();
      if (window.get().isChangelog()) {
        toChangelog(rows);
      }
      return;
    }
    if (isTwoPhase) {
      new TwoPhasePlan(selected, keys, aggregates, ExpressionSettings.DEFAULT);
    }
    toChangelog(plan.outputSchema());
  }

  private static Duration stateTtl(Configuration configuration) {
    Duration stateTtl = configuration.get(EtlOptions.GROUP_BY_STATE_TTL);
    if (!stateTtl.isZero() && stateTtl.toMillis() == 0) {
      throw new UsageException(
          EtlOptions.GROUP_BY_STATE_TTL.key() + ": expected 0 s or at least 1 ms");
    }
    return stateTtl;
  }

  private static void checkCannotFail(SqlAggregate aggregate, Schema schema) {
    for (Expression input : aggregate.inputs()) {
      if (CalcPlan.of(schema, ExpressionSettings.DEFAULT).select(List.of(input)).canFail()) {
        throw new UsageException(
            EtlOptions.GROUP_BY_AGGREGATES.key()
                + ": "
                + input
                + " can fail for a row; compute it in select, which skips such rows, or set"
                + " on-error to fail");
      }
    }
  }

  private static CalcPlan toChangelog(Schema rows) {
    return CalcPlan.of(rows, ExpressionSettings.DEFAULT).toChangelog(OPERATION);
  }

  /** The rows of the windows of {@code rows}, or their changes; late rows are a side output. */
  ColumnStream windows(KeyedColumnStream rows) {
    EtlWindow settings = window.orElseThrow();
    return rows.window(settings.window())
        .allowedLateness(settings.allowedLateness())
        .earlyFiring(settings.earlyFiring())
        .sideOutputLateRows()
        .aggregate(aggregates.toArray(Aggregate[]::new))
        .name("group by window")
        .uid("group-by-window");
  }

  private ColumnStream aggregated(KeyedColumnStream rows) {
    KeyedColumnStream forgetful = rows.stateTtl(stateTtl);
    return (isTwoPhase ? forgetful.twoPhase() : forgetful)
        .aggregate(aggregates.toArray(Aggregate[]::new))
        .name("group by")
        .uid("group-by");
  }

  /** What is written of {@link #windows}. */
  ColumnStream result(ColumnStream windows) {
    ColumnStream rows = window.orElseThrow().isChangelog() ? withOperations(windows) : windows;
    return rows.drop(WindowAggregatePlan.WINDOW_TIME).name("result").uid("result");
  }

  /** The changes of the aggregates of {@code rows}, each with its operation in a column. */
  ColumnStream changes(KeyedColumnStream rows) {
    return withOperations(aggregated(rows));
  }

  private static ColumnStream withOperations(ColumnStream changes) {
    CalcPlan toChangelog = toChangelog(changes.schema());
    return changes
        .transform(
            "changes",
            toChangelog.outputSchema(),
            TransformOperator.factory(toChangelog.transforms()))
        .uid("changes");
  }

  /** The row of each key after all of {@code rows}, which must end. */
  ColumnStream result(KeyedColumnStream rows, BatchOptions batches) {
    Schema schema = new Schema(RowKindColumn.rowFields(plan.outputSchema()));
    TypeInformation<Row> type = ExternalRowDecoder.typeInformation(schema);
    int keyCount = keys.size();
    DataStream<Row> lastRows =
        aggregated(rows)
            .toRows()
            .keyBy(
                row -> key(row, keyCount),
                ExternalRowDecoder.typeInformation(
                    new Schema(schema.fields().subList(0, keyCount))))
            .process(new LastRowFunction(type), type)
            .name("last rows")
            .uid("last-rows");
    return ColumnStream.from(lastRows, schema).batch(batches).name("batch").uid("batch-result");
  }

  private static Row key(Row row, int keyCount) {
    Row key = new Row(keyCount);
    for (int i = 0; i < keyCount; i++) {
      key.setField(i, row.getField(i));
    }
    return key;
  }
}
