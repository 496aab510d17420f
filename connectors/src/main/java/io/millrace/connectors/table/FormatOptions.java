// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.table;

import io.millrace.connectors.parquet.ParquetCompression;
import io.millrace.format.TimestampFormat;
import org.apache.flink.annotation.Internal;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** The options of formats, with the names that they have in Flink's formats. */
@Internal
public final class FormatOptions {
  static final ConfigOption<Boolean> IGNORE_PARSE_ERRORS =
      ConfigOptions.key("ignore-parse-errors")
          .booleanType()
          .defaultValue(false)
          .withDescription("Records that are malformed are left out; otherwise they fail the job.");

  static final ConfigOption<Boolean> FAIL_ON_MISSING_FIELD =
      ConfigOptions.key("fail-on-missing-field")
          .booleanType()
          .defaultValue(false)
          .withDescription("Only 'false': a member that is missing is NULL.");

  /** How timestamps are written. */
  public static final ConfigOption<TimestampFormat> TIMESTAMP_FORMAT =
      ConfigOptions.key("timestamp-format.standard")
          .enumType(TimestampFormat.class)
          .defaultValue(TimestampFormat.SQL)
          .withDescription(
              "How timestamps are written: 'SQL' with a space between date and time, 'ISO-8601' with"
                  + " a T. Both are read.");

  static final ConfigOption<Boolean> DECIMAL_AS_PLAIN_NUMBER =
      ConfigOptions.key("encode.decimal-as-plain-number")
          .booleanType()
          .defaultValue(true)
          .withDescription("Only 'true': decimals are written without an exponent.");

  static final ConfigOption<Boolean> IGNORE_NULL_FIELDS =
      ConfigOptions.key("encode.ignore-null-fields")
          .booleanType()
          .defaultValue(false)
          .withDescription("Only 'false': NULL is written as null.");

  /** What is between the fields of a record of CSV. */
  public static final ConfigOption<String> FIELD_DELIMITER =
      ConfigOptions.key("field-delimiter")
          .stringType()
          .defaultValue(",")
          .withDescription("An ASCII character between fields.");

  static final ConfigOption<String> QUOTE_CHARACTER =
      ConfigOptions.key("quote-character")
          .stringType()
          .defaultValue("\"")
          .withDescription("An ASCII character around fields. A sink writes double quotes.");

  static final ConfigOption<Boolean> DISABLE_QUOTE_CHARACTER =
      ConfigOptions.key("disable-quote-character")
          .booleanType()
          .defaultValue(false)
          .withDescription("Whether quotes are characters like others. Sources only.");

  static final ConfigOption<String> ESCAPE_CHARACTER =
      ConfigOptions.key("escape-character")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "An ASCII character in front of one that is taken as it is. Sources only.");

  static final ConfigOption<String> NULL_LITERAL =
      ConfigOptions.key("null-literal")
          .stringType()
          .defaultValue("")
          .withDescription(
              "The text of a field without quotes that is NULL. A sink writes no text.");

  static final ConfigOption<String> AVRO_ENCODING =
      ConfigOptions.key("encoding")
          .stringType()
          .defaultValue("binary")
          .withDescription("Only 'binary'.");

  static final ConfigOption<Boolean> LEGACY_TIMESTAMPS =
      ConfigOptions.key("timestamp_mapping.legacy")
          .booleanType()
          .defaultValue(false)
          .withDescription(
              "Only 'false': TIMESTAMP is local-timestamp-*, TIMESTAMP_LTZ is timestamp-*.");

  static final ConfigOption<String> REGISTRY =
      ConfigOptions.key("url")
          .stringType()
          .noDefaultValue()
          .withDescription("The address of the registry of schemas. Required.");

  static final ConfigOption<String> SUBJECT =
      ConfigOptions.key("subject")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "The subject of a sink's schema; only the topic with '-value', or '-key' for keys.");

  static final ConfigOption<String> CREDENTIALS_SOURCE =
      ConfigOptions.key("basic-auth.credentials-source")
          .stringType()
          .noDefaultValue()
          .withDescription("Only 'USER_INFO'.");

  static final ConfigOption<String> USER_INFO =
      ConfigOptions.key("basic-auth.user-info")
          .stringType()
          .noDefaultValue()
          .withDescription("The user and the password of the registry, with a colon between.");

  static final ConfigOption<String> CHARSET =
      ConfigOptions.key("charset")
          .stringType()
          .defaultValue("UTF-8")
          .withDescription("Only 'UTF-8'.");

  static final ConfigOption<Boolean> SCHEMA_INCLUDE =
      ConfigOptions.key("schema-include")
          .booleanType()
          .defaultValue(false)
          .withDescription("Whether a record has its schema, and the change as its payload.");

  /** How pages of Parquet files are compressed. */
  public static final ConfigOption<ParquetCompression> COMPRESSION =
      ConfigOptions.key("compression")
          .enumType(ParquetCompression.class)
          .defaultValue(ParquetCompression.ZSTD)
          .withDescription("How a sink compresses pages: 'zstd', 'snappy' or 'none'.");

  /** How large row groups of Parquet files are. */
  public static final ConfigOption<MemorySize> ROW_GROUP_BYTES =
      ConfigOptions.key("block.size")
          .memoryType()
          .defaultValue(MemorySize.ofMebiBytes(64))
          .withDescription("The bytes of a sink's row groups.");

  static final ConfigOption<Boolean> UTC_TIMEZONE =
      ConfigOptions.key("utc-timezone")
          .booleanType()
          .defaultValue(true)
          .withDescription("Only 'true': timestamps in files are in UTC.");

  private FormatOptions() {}
}
