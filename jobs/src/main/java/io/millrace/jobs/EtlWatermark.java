// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.connectors.records.EventTimeWatermarks;
import io.millrace.operators.sql.SchemaParser;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.data.RowData;

/**
 * The settings of the watermark of rows from files. Generated rows have watermarks of their own.
 */
final class EtlWatermark {
  static final ConfigOption<String> COLUMN =
      key("source.watermark.column")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Column of the files whose times move the watermark, which ends windows; without it"
                  + " windows end with the input.");
  static final ConfigOption<Duration> DELAY =
      key("source.watermark.delay")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription("How far the watermark is behind the greatest time that was read.");

  static final List<ConfigOption<?>> ALL = List.of(COLUMN, DELAY);
  private static final int MILLIS_DIGITS = 3;

  private EtlWatermark() {}

  /**
   * The watermarks of rows of {@code source}.
   *
   * @throws UsageException if there is no such column, or its type is another than TIMESTAMP or
   *     TIMESTAMP_LTZ with up to 3 digits
   */
  static WatermarkStrategy<RowData> strategy(Configuration settings, Schema source) {
    if (!settings.contains(COLUMN)) {
      return WatermarkStrategy.noWatermarks();
    }
    int column = column(settings.get(COLUMN), source);
    // A row without a time does not move the watermark.
    return WatermarkStrategy.<RowData>forBoundedOutOfOrderness(settings.get(DELAY))
        .withTimestampAssigner(
            (row, timestamp) ->
                row.isNullAt(column)
                    ? Long.MIN_VALUE
                    : row.getTimestamp(column, MILLIS_DIGITS).getMillisecond());
  }

  /**
   * The watermarks of batches of {@code source}; empty if no column is named.
   *
   * @throws UsageException as {@link #strategy}
   */
  static Optional<EventTimeWatermarks> ofColumn(Configuration settings, Schema source) {
    if (!settings.contains(COLUMN)) {
      return Optional.empty();
    }
    String column = source.names().get(column(settings.get(COLUMN), source));
    EventTimeWatermarks watermarks = EventTimeWatermarks.of(column).withDelay(settings.get(DELAY));
    return Optional.of(
        settings.getOptional(EtlKafka.IDLE).map(watermarks::withIdleTimeout).orElse(watermarks));
  }

  private static int column(String text, Schema source) {
    List<String> names = SchemaParser.parseNames(text);
    int column = names.size() == 1 ? source.names().indexOf(names.get(0)) : -1;
    if (column < 0) {
      throw new UsageException(
          COLUMN.key() + ": expected a column of source.schema, got '" + text + "'");
    }
    if (source.type(column).id() != TypeId.TIMESTAMP_MILLIS) {
      throw new UsageException(
          COLUMN.key()
              + ": expected TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits for column '"
              + names.get(0)
              + "', got "
              + source.type(column));
    }
    return column;
  }
}
