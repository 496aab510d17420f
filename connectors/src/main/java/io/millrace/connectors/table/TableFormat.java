// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.table;

import io.millrace.operators.row.RowKindColumn;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.flink.annotation.Internal;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;

/**
 * The formats of records and files, with the names and the options of Flink's formats. An option of
 * Flink's that is not here is not supported.
 */
@Internal
public enum TableFormat {
  JSON("json"),
  CSV("csv"),
  AVRO("avro"),
  AVRO_CONFLUENT("avro-confluent"),
  RAW("raw"),
  DEBEZIUM_JSON("debezium-json"),
  CANAL_JSON("canal-json"),
  ARROW("arrow"),
  PARQUET("parquet");

  private final String identifier;

  TableFormat(String identifier) {
    this.identifier = identifier;
  }

  /** The name in the option {@code format}. */
  public String identifier() {
    return identifier;
  }

  /** The options, without the prefix that a table gives them, such as {@code json.}. */
  public List<ConfigOption<?>> options() {
    return switch (this) {
      case JSON ->
          List.of(
              FormatOptions.IGNORE_PARSE_ERRORS,
              FormatOptions.FAIL_ON_MISSING_FIELD,
              FormatOptions.TIMESTAMP_FORMAT,
              FormatOptions.DECIMAL_AS_PLAIN_NUMBER,
              FormatOptions.IGNORE_NULL_FIELDS);
      case CSV ->
          List.of(
              FormatOptions.IGNORE_PARSE_ERRORS,
              FormatOptions.FIELD_DELIMITER,
              FormatOptions.QUOTE_CHARACTER,
              FormatOptions.DISABLE_QUOTE_CHARACTER,
              FormatOptions.ESCAPE_CHARACTER,
              FormatOptions.NULL_LITERAL);
      case AVRO -> List.of(FormatOptions.AVRO_ENCODING, FormatOptions.LEGACY_TIMESTAMPS);
      case AVRO_CONFLUENT ->
          List.of(
              FormatOptions.REGISTRY,
              FormatOptions.SUBJECT,
              FormatOptions.CREDENTIALS_SOURCE,
              FormatOptions.USER_INFO,
              FormatOptions.LEGACY_TIMESTAMPS);
      case RAW -> List.of(FormatOptions.CHARSET);
      case DEBEZIUM_JSON ->
          List.of(
              FormatOptions.IGNORE_PARSE_ERRORS,
              FormatOptions.SCHEMA_INCLUDE,
              FormatOptions.TIMESTAMP_FORMAT);
      case CANAL_JSON -> List.of(FormatOptions.IGNORE_PARSE_ERRORS, FormatOptions.TIMESTAMP_FORMAT);
      case ARROW -> List.of();
      case PARQUET ->
          List.of(
              FormatOptions.COMPRESSION, FormatOptions.ROW_GROUP_BYTES, FormatOptions.UTC_TIMEZONE);
    };
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
}
