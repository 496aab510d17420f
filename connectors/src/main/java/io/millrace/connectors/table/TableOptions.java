// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.table;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.annotation.Internal;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimeType;

/**
 * The options of a table, as {@code CREATE TABLE} has them. Options that nothing asks for are
 * refused at the end, by {@link #validate}. Used by one thread.
 */
@Internal
public final class TableOptions {
  private static final int MAX_TIME_PRECISION = 3;

  private final DynamicTableFactory factory;
  private final Map<String, String> all;
  private final Configuration options;
  private final Set<String> known = new HashSet<>();
  private final Map<String, Integer> timePrecisions;

  /**
   * @param factory whose options are known, beside those of formats
   */
  public TableOptions(DynamicTableFactory factory, DynamicTableFactory.Context context) {
    this.factory = factory;
    this.all = context.getCatalogTable().getOptions();
    this.options = Configuration.fromMap(all);
    this.timePrecisions = timePrecisions(context);
    Stream.of(factory.requiredOptions(), factory.optionalOptions())
        .flatMap(Set::stream)
        .forEach(this::know);
    List.of(
            FactoryUtil.CONNECTOR,
            FactoryUtil.PROPERTY_VERSION,
            FactoryUtil.WATERMARK_EMIT_STRATEGY,
            FactoryUtil.WATERMARK_ALIGNMENT_GROUP,
            FactoryUtil.WATERMARK_ALIGNMENT_MAX_DRIFT,
            FactoryUtil.WATERMARK_ALIGNMENT_UPDATE_INTERVAL,
            FactoryUtil.SOURCE_IDLE_TIMEOUT)
        .forEach(this::know);
  }

  // Columns of batches do not tell the precision of a TIME.
  private static Map<String, Integer> timePrecisions(DynamicTableFactory.Context context) {
    Map<String, Integer> precisions = new HashMap<>();
    RowType row = (RowType) context.getPhysicalRowDataType().getLogicalType();
    for (RowType.RowField field : row.getFields()) {
      if (field.getType() instanceof TimeType time) {
        precisions.put(field.getName(), Math.min(time.getPrecision(), MAX_TIME_PRECISION));
      }
    }
    return precisions;
  }

  private void know(ConfigOption<?> option) {
    known.add(option.key());
    option.fallbackKeys().forEach(key -> known.add(key.getKey()));
  }

  /** All options. */
  public ReadableConfig options() {
    return options;
  }

  /**
   * The format that an option names, with its options.
   *
   * @param option such as {@code format} or {@code value.format}
   * @param supported the formats of the connector
   * @return empty if the option is not there
   * @throws ValidationException if the format is not supported, or an option of it has a value that
   *     is not
   */
  public Optional<FormatSettings> format(ConfigOption<String> option, List<TableFormat> supported) {
    return options
        .getOptional(option)
        .map(
            name -> {
              TableFormat format = TableFormat.of(option.key(), name, supported);
              String prefix = FactoryUtil.getFormatPrefix(option, name);
              format.options().forEach(each -> known.add(prefix + each.key()));
              return new FormatSettings(
                  format, prefix, Configuration.fromMap(below(prefix)), timePrecisions);
            });
  }

  private Map<String, String> below(String prefix) {
    Map<String, String> found = new HashMap<>();
    all.forEach(
        (key, value) -> {
          if (key.startsWith(prefix)) {
            found.put(key.substring(prefix.length()), value);
          }
        });
    return found;
  }

  /** The options that begin with {@code prefix}, without it; they are known now. */
  public Properties properties(String prefix) {
    Properties properties = new Properties();
    below(prefix).forEach(properties::setProperty);
    properties.stringPropertyNames().forEach(name -> known.add(prefix + name));
    return properties;
  }

  /**
   * Checks that there is no unknown option, each required one, and no value of a wrong type.
   *
   * @throws ValidationException which names them
   */
  public void validate() {
    FactoryUtil.validateFactoryOptions(factory, options);
    FactoryUtil.validateUnconsumedKeys(factory.factoryIdentifier(), all.keySet(), known);
    FactoryUtil.validateWatermarkOptions(factory.factoryIdentifier(), options);
  }
}
