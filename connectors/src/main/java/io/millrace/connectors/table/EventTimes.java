// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.table;

import io.millrace.connectors.records.EventTimeWatermarks;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.annotation.Internal;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.catalog.WatermarkSpec;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.watermark.WatermarkEmitStrategy;

/**
 * The watermarks that a table declares, if readers can make them for each partition: a column, or a
 * column minus a constant interval. Flink gives a source the expression as generated code for rows,
 * so that the declaration has to be read.
 *
 * @param column the name of the column
 * @param metadataKey of the column if it is one of metadata; empty otherwise
 * @param delay how far a watermark is behind the greatest time
 * @param idleTimeout after which a partition no longer holds the watermark back; empty if it always
 *     does
 */
@Internal
public record EventTimes(
    String column, Optional<String> metadataKey, Duration delay, Optional<Duration> idleTimeout) {
  private static final Pattern EXPRESSION =
      Pattern.compile("`([^`]+)`(?:\\s*-\\s*INTERVAL\\s*'(\\d+)(?:\\.(\\d{1,3}))?'\\s*([A-Z]+))?");

  private static final Map<String, Duration> UNITS =
      Map.of(
          "SECOND", Duration.ofSeconds(1),
          "MINUTE", Duration.ofMinutes(1),
          "HOUR", Duration.ofHours(1),
          "DAY", Duration.ofDays(1));

  // Readers make watermarks that are a millisecond behind the delay, as those of streams are.
  private static final Duration BEHIND = Duration.ofMillis(1);

  /**
   * The watermarks of a table; empty if it has none, or those that the planner has to make.
   *
   * @throws ValidationException if the planner has to make them, and the table has a time-out of
   *     those that readers make; or if the table has an alignment of watermarks
   */
  public static Optional<EventTimes> of(DynamicTableFactory.Context context) {
    Optional<EventTimes> times = ofReaders(context);
    Configuration options = Configuration.fromMap(context.getCatalogTable().getOptions());
    if (options.contains(FactoryUtil.WATERMARK_ALIGNMENT_GROUP)) {
      throw new ValidationException(
          "'%s' is not supported".formatted(FactoryUtil.WATERMARK_ALIGNMENT_GROUP.key()));
    }
    if (times.isEmpty()
        && options.contains(FactoryUtil.SOURCE_IDLE_TIMEOUT)
        && !context.getCatalogTable().getResolvedSchema().getWatermarkSpecs().isEmpty()) {
      throw new ValidationException(
          ("'%s' needs watermarks that readers make: of a column, which is TIMESTAMP_LTZ(3) if it is"
                  + " metadata, minus a constant interval of at least 1 ms, with '%s' ="
                  + " 'on-periodic'")
              .formatted(
                  FactoryUtil.SOURCE_IDLE_TIMEOUT.key(),
                  FactoryUtil.WATERMARK_EMIT_STRATEGY.key()));
    }
    return times;
  }

  private static Optional<EventTimes> ofReaders(DynamicTableFactory.Context context) {
    ResolvedSchema schema = context.getCatalogTable().getResolvedSchema();
    List<WatermarkSpec> specs = schema.getWatermarkSpecs();
    ReadableConfig options = Configuration.fromMap(context.getCatalogTable().getOptions());
    if (specs.size() != 1 || !isPlain(options)) {
      return Optional.empty();
    }
    Matcher matcher =
        EXPRESSION.matcher(specs.get(0).getWatermarkExpression().asSerializableString());
    String name = specs.get(0).getRowtimeAttribute();
    Optional<Column> column = schema.getColumn(name);
    if (!matcher.matches() || !matcher.group(1).equals(name) || column.isEmpty()) {
      return Optional.empty();
    }
    Optional<Duration> delay = delay(matcher);
    boolean isComputed =
        column.get() instanceof Column.ComputedColumn || isCastMetadata(column.get());
    if (isComputed || delay.isEmpty() || delay.get().compareTo(BEHIND) < 0) {
      return Optional.empty();
    }
    Optional<Duration> idle =
        options
            .getOptional(FactoryUtil.SOURCE_IDLE_TIMEOUT)
            .or(
                () ->
                    context
                        .getConfiguration()
                        .getOptional(ExecutionConfigOptions.TABLE_EXEC_SOURCE_IDLE_TIMEOUT))
            .filter(timeout -> !timeout.isZero());
    return Optional.of(new EventTimes(name, metadataKey(column.get()), delay.get(), idle));
  }

  // Readers know the times of records as instants, of which the planner makes the declared type.
  private static boolean isCastMetadata(Column column) {
    return column instanceof Column.MetadataColumn
        && !column
            .getDataType()
            .getLogicalType()
            .copy(true)
            .equals(new LocalZonedTimestampType(true, 3));
  }

  private static Optional<String> metadataKey(Column column) {
    return column instanceof Column.MetadataColumn metadata
        ? Optional.of(metadata.getMetadataKey().orElse(metadata.getName()))
        : Optional.empty();
  }

  // The planner makes watermarks for each event itself.
  private static boolean isPlain(ReadableConfig options) {
    return options.get(FactoryUtil.WATERMARK_EMIT_STRATEGY) == WatermarkEmitStrategy.ON_PERIODIC;
  }

  private static Optional<Duration> delay(Matcher matcher) {
    if (matcher.group(2) == null) {
      return Optional.of(Duration.ZERO);
    }
    Duration unit = UNITS.get(matcher.group(4));
    if (unit == null || (matcher.group(3) != null && !unit.equals(Duration.ofSeconds(1)))) {
      return Optional.empty();
    }
    String millis = matcher.group(3) == null ? "0" : (matcher.group(3) + "00").substring(0, 3);
    return Optional.of(
        unit.multipliedBy(Long.parseLong(matcher.group(2))).plusMillis(Long.parseLong(millis)));
  }

  /**
   * The watermarks as readers make them.
   *
   * @param name of the column in the rows of the reader
   */
  public EventTimeWatermarks watermarks(String name) {
    return new EventTimeWatermarks(name, delay.minus(BEHIND), idleTimeout.orElse(null));
  }
}
