// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.table;

import io.millrace.operators.row.RowKindColumn;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.flink.annotation.Internal;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;

/**
 * The formats of records and files, with the names and the options of Flink's formats. An option of
 * Flink's that is not here is not supported.
 */
@Internal
public enum TableFormat {
  JSON(
      "json",
      FormatOptions.IGNORE_PARSE_ERRORS,
      FormatOptions.FAIL_ON_MISSING_FIELD,
      FormatOptions.TIMESTAMP_FORMAT,
      FormatOptions.DECIMAL_AS_PLAIN_NUMBER,
      FormatOptions.IGNORE_NULL_FIELDS),
  CSV(
      "csv",
      FormatOptions.IGNORE_PARSE_ERRORS,
      FormatOptions.FIELD_DELIMITER,
      FormatOptions.QUOTE_CHARACTER,
      FormatOptions.DISABLE_QUOTE_CHARACTER,
      FormatOptions.ESCAPE_CHARACTER,
      FormatOptions.NULL_LITERAL),
  AVRO("avro", FormatOptions.AVRO_ENCODING, FormatOptions.LEGACY_TIMESTAMPS),
  AVRO_CONFLUENT(
      "avro-confluent",
      FormatOptions.REGISTRY,
      FormatOptions.SUBJECT,
      FormatOptions.CREDENTIALS_SOURCE,
      FormatOptions.USER_INFO,
      FormatOptions.LEGACY_TIMESTAMPS),
  RAW("raw", FormatOptions.CHARSET),
  DEBEZIUM_JSON(
      "debezium-json",
      FormatOptions.IGNORE_PARSE_ERRORS,
      FormatOptions.SCHEMA_INCLUDE,
      FormatOptions.TIMESTAMP_FORMAT),
  CANAL_JSON("canal-json", FormatOptions.IGNORE_PARSE_ERRORS, FormatOptions.TIMESTAMP_FORMAT),
  ARROW("arrow"),
  PARQUET("parquet", FormatOptions.COMPRESSION, FormatOptions.ROW_GROUP_BYTES);

  private final String identifier;
  private final List<ConfigOption<?>> options;

  TableFormat(String identifier, ConfigOption<?>... options) {
    this.identifier = identifier;
    this.options = List.of(options);
  }

  /** The name in the option {@code format}. */
  public String identifier() {
    return identifier;
  }

  /** The options, without the prefix that a table gives them, such as {@code json.}. */
  public List<ConfigOption<?>> options() {
    return options;
  }

  /** Whether the rows are changes, with a {@link RowKindColumn}; otherwise all are insertions. */
  public boolean isChangelog() {
    return this == DEBEZIUM_JSON || this == CANAL_JSON;
  }

  /** Whether readers of fewer columns than records have skip the others. */
  public boolean skipsColumns() {
    return this != RAW && this != ARROW;
  }

  /** Whether readers of ROWs with fewer fields than records have skip the others. */
  public boolean skipsFields() {
    return skipsColumns() && this != CSV && this != PARQUET;
  }

  /** The kinds of changes that a source of this format gives. */
  public ChangelogMode changelogMode() {
    return isChangelog() ? ChangelogMode.all() : ChangelogMode.insertOnly();
  }

  /**
   * The format with this name.
   *
   * @param option that has the name, for the message
   * @param supported the formats of the connector
   * @throws ValidationException if the connector has no such format
   */
  static TableFormat of(String option, String name, List<TableFormat> supported) {
    Optional<TableFormat> found =
        supported.stream().filter(format -> format.identifier.equals(name)).findFirst();
    return found.orElseThrow(
        () ->
            new ValidationException(
                "'%s' = '%s' is not supported. Supported formats are: %s"
                    .formatted(
                        option,
                        name,
                        supported.stream()
                            .map(TableFormat::identifier)
                            .collect(Collectors.joining(", ")))));
  }

  /** All formats but {@code others}. */
  public static List<TableFormat> allBut(TableFormat... others) {
    return Arrays.stream(values()).filter(format -> !List.of(others).contains(format)).toList();
  }

  /** The key of an option that names a format, such as {@code value.format}. */
  public static ConfigOption<String> optional(String key) {
    return ConfigOptions.key(key).stringType().noDefaultValue();
  }
}
