// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.table;

import io.millrace.column.Schema;
import io.millrace.connectors.avro.AvroRecordFormat;
import io.millrace.connectors.avro.ColumnSchemas;
import io.millrace.connectors.avro.SchemaRegistry;
import io.millrace.connectors.records.ArrowRecordFormat;
import io.millrace.connectors.records.CanalJsonRecordFormat;
import io.millrace.connectors.records.CsvRecordFormat;
import io.millrace.connectors.records.DebeziumJsonRecordFormat;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.connectors.records.RawRecordFormat;
import io.millrace.connectors.records.RecordFormat;
import io.millrace.format.FieldQuotes;
import io.millrace.format.TimestampFormat;
import io.millrace.format.csv.CsvReaderOptions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.annotation.Internal;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;

/**
 * A format with the options of a table. Immutable; shows no credentials.
 *
 * @param prefix of the format's options, such as {@code value.json.}
 * @param options without the prefix
 * @param timePrecisions digits behind the second, by columns of TIME
 */
@Internal
public record FormatSettings(
    TableFormat format,
    String prefix,
    ReadableConfig options,
    Map<String, Integer> timePrecisions) {
  private static final Pattern UNICODE_ESCAPE = Pattern.compile("\\\\u+([0-9a-fA-F]{4})");

  /**
   * Checks the types of options, and the values of those that have one supported value.
   *
   * @throws ValidationException for another type or value
   */
  public FormatSettings {
    format.options().forEach(option -> checkType(prefix, options, option));
    if (format == TableFormat.JSON) {
      requireOnly(prefix, options, FormatOptions.FAIL_ON_MISSING_FIELD, false);
      requireOnly(prefix, options, FormatOptions.DECIMAL_AS_PLAIN_NUMBER, true);
      requireOnly(prefix, options, FormatOptions.IGNORE_NULL_FIELDS, false);
    } else if (format == TableFormat.AVRO || format == TableFormat.AVRO_CONFLUENT) {
      requireOnly(prefix, options, FormatOptions.AVRO_ENCODING, "binary");
      requireOnly(prefix, options, FormatOptions.LEGACY_TIMESTAMPS, false);
      requireOnly(prefix, options, FormatOptions.CREDENTIALS_SOURCE, "USER_INFO");
    } else if (format == TableFormat.RAW) {
      requireOnly(prefix, options, FormatOptions.CHARSET, "UTF-8");
    } else if (format == TableFormat.PARQUET) {
      requireOnly(prefix, options, FormatOptions.UTC_TIMEZONE, true);
    }
  }

  private static <T> void checkType(String prefix, ReadableConfig options, ConfigOption<T> option) {
    try {
      Optional<T> unused = options.getOptional(option);
    } catch (IllegalArgumentException e) {
      throw new ValidationException(
          "'%s%s': %s".formatted(prefix, option.key(), e.getMessage()), e);
    }
  }

  private static <T> void requireOnly(
      String prefix, ReadableConfig options, ConfigOption<T> option, T supported) {
    options
        .getOptional(option)
        .filter(value -> !value.equals(supported))
        .ifPresent(
            value -> {
              throw new ValidationException(
                  "'%s%s' = '%s' is not supported, only '%s' is"
                      .formatted(prefix, option.key(), value, supported));
            });
  }

  /** Whether malformed records are left out; they fail the job otherwise. */
  public boolean ignoresParseErrors() {
    return options.get(FormatOptions.IGNORE_PARSE_ERRORS);
  }

  /** How timestamps are written. */
  public TimestampFormat timestamps() {
    return options.get(FormatOptions.TIMESTAMP_FORMAT);
  }

  /**
   * The format of the records of messages as readers take it.
   *
   * @param declared the columns that records have
   * @param read those that are read, by name; of ROWs, fields may be left out
   * @throws ValidationException if the columns cannot be read in this format
   */
  public RecordFormat recordFormat(Schema declared, Schema read) {
    try {
      return switch (format) {
        case JSON -> new JsonRecordFormat(read);
        case CSV -> CsvRecordFormat.of(read, csv().withHeader(declared.names()));
        case AVRO -> AvroRecordFormat.of(read, ColumnSchemas.text(declared));
        case AVRO_CONFLUENT -> AvroRecordFormat.of(read, registry());
        case RAW -> new RawRecordFormat(read);
        case DEBEZIUM_JSON ->
            new DebeziumJsonRecordFormat(read, options.get(FormatOptions.SCHEMA_INCLUDE));
        case CANAL_JSON -> new CanalJsonRecordFormat(read);
        case ARROW -> new ArrowRecordFormat(read);
        case PARQUET -> throw new ValidationException("a record is not a file of parquet");
      };
    } catch (IllegalArgumentException e) {
      throw new ValidationException(
          "records of the format '%s' are not read: %s"
              .formatted(format.identifier(), e.getMessage()),
          e);
    }
  }

  /**
   * The format of the lines of files as readers take it, as {@link #recordFormat} otherwise.
   *
   * @throws ValidationException as {@link #recordFormat}
   */
  public RecordFormat lineFormat(Schema declared, Schema read) {
    RecordFormat messages = recordFormat(declared, read);
    return format == TableFormat.RAW ? RawRecordFormat.ofLines(read) : messages;
  }

  private CsvReaderOptions csv() {
    try {
      return CsvReaderOptions.DEFAULT
          .withQuotes(quotes())
          .withNullLiteral(options.get(FormatOptions.NULL_LITERAL))
          .withTimePrecisions(timePrecisions);
    } catch (IllegalArgumentException e) {
      throw new ValidationException("the options '%s*': %s".formatted(prefix, e.getMessage()), e);
    }
  }

  /** The delimiter, the quote and the escape of CSV. */
  public FieldQuotes quotes() {
    int quote =
        options.get(FormatOptions.DISABLE_QUOTE_CHARACTER)
            ? FieldQuotes.NO_CHARACTER
            : character(FormatOptions.QUOTE_CHARACTER);
    int escape =
        options.getOptional(FormatOptions.ESCAPE_CHARACTER).isPresent()
            ? character(FormatOptions.ESCAPE_CHARACTER)
            : FieldQuotes.NO_CHARACTER;
    return new FieldQuotes(delimiter(), quote, escape);
  }

  // Flink takes the delimiter with Java's escapes, such as \t or \u0001.
  private char delimiter() {
    String text = options.get(FormatOptions.FIELD_DELIMITER);
    Matcher unicode = UNICODE_ESCAPE.matcher(text);
    return unicode.matches()
        ? (char) Integer.parseInt(unicode.group(1), 16)
        : character(FormatOptions.FIELD_DELIMITER, text.translateEscapes());
  }

  private char character(ConfigOption<String> option) {
    return character(option, options.get(option));
  }

  private char character(ConfigOption<String> option, String text) {
    if (text.length() != 1) {
      throw new ValidationException(
          "expected one character for '%s%s', got '%s'".formatted(prefix, option.key(), text));
    }
    return text.charAt(0);
  }

  /**
   * The registry of schemas.
   *
   * @throws ValidationException if there is no address of a registry, or it is none
   */
  public SchemaRegistry registry() {
    String address =
        options
            .getOptional(FormatOptions.REGISTRY)
            .orElseThrow(
                () ->
                    new ValidationException(
                        "'%s%s' is required".formatted(prefix, FormatOptions.REGISTRY.key())));
    try {
      SchemaRegistry registry = SchemaRegistry.at(address);
      String[] userInfo =
          options.getOptional(FormatOptions.USER_INFO).map(info -> info.split(":", 2)).orElse(null);
      if (userInfo == null) {
        return registry;
      }
      if (userInfo.length < 2) {
        throw new ValidationException(
            "expected a user and a password with a colon between for '%s%s'"
                .formatted(prefix, FormatOptions.USER_INFO.key()));
      }
      return registry.withCredentials(userInfo[0], () -> userInfo[1]);
    } catch (IllegalArgumentException e) {
      throw new ValidationException(
          "'%s%s': %s".formatted(prefix, FormatOptions.REGISTRY.key(), e.getMessage()), e);
    }
  }

  /**
   * Checks what a sink's options ask for.
   *
   * @param subject of the schema in a registry
   * @throws ValidationException if a sink does not write so
   */
  public void checkWriting(String subject) {
    requireOnly(prefix, options, FormatOptions.SUBJECT, subject);
    requireOnly(prefix, options, FormatOptions.QUOTE_CHARACTER, "\"");
    requireOnly(prefix, options, FormatOptions.DISABLE_QUOTE_CHARACTER, false);
    requireOnly(prefix, options, FormatOptions.NULL_LITERAL, "");
    if (options.getOptional(FormatOptions.ESCAPE_CHARACTER).isPresent()) {
      throw new ValidationException(
          "'%s%s' is not supported for sinks"
              .formatted(prefix, FormatOptions.ESCAPE_CHARACTER.key()));
    }
  }

  /**
   * Checks that keys with these options are written as values with those of {@code value}.
   *
   * @throws ValidationException if an option that a sink heeds has another value
   */
  public void checkWritesAs(FormatSettings value) {
    for (ConfigOption<?> option :
        List.of(FormatOptions.TIMESTAMP_FORMAT, FormatOptions.REGISTRY, FormatOptions.USER_INFO)) {
      if (format.options().contains(option)
          && !Objects.equals(options.get(option), value.options.get(option))) {
        throw new ValidationException(
            "expected the same value for '%s%s' and '%s%s', as one encoder writes keys and values"
                .formatted(prefix, option.key(), value.prefix, option.key()));
      }
    }
  }

  /** The name of the format. */
  @Override
  public String toString() {
    return format.identifier();
  }
}
