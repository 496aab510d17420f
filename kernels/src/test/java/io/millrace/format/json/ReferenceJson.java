// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.format.write.ReferenceText;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What {@link JsonWriter} is compared with: JSON of Java values. */
public final class ReferenceJson {
  private ReferenceJson() {}

  /** An object whose members are fields. */
  public static String object(List<Field> fields, List<?> values) {
    return IntStream.range(0, fields.size())
        .mapToObj(
            i -> string(fields.get(i).name()) + ":" + value(fields.get(i).type(), values.get(i)))
        .collect(Collectors.joining(",", "{", "}"));
  }

  /** A value, or null. */
  public static String value(DataType type, Object value) {
    if (value == null) {
      return "null";
    }
    return switch (type.id()) {
      case STRING -> string((String) value);
      case STRUCT -> object(type.fields(), (List<?>) value);
      case LIST ->
          ((List<?>) value)
              .stream()
                  .map(element -> value(type.fields().get(0).type(), element))
                  .collect(Collectors.joining(",", "[", "]"));
      case DICTIONARY -> value(type.fields().get(0).type(), value);
      case FLOAT32, FLOAT64 -> {
        String text = ReferenceText.scalar(type, value);
        yield Double.isFinite(((Number) value).doubleValue()) ? text : quoted(text);
      }
      case DATE, TIME, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS, BINARY ->
          quoted(ReferenceText.scalar(type, value));
      default -> ReferenceText.scalar(type, value);
    };
  }

  private static String quoted(String text) {
    return '"' + text + '"';
  }

  private static String string(String text) {
    return text.chars()
        .mapToObj(ReferenceJson::escaped)
        .collect(Collectors.joining("", "\"", "\""));
  }

  private static String escaped(int character) {
    return switch (character) {
      case '"' -> "\\\"";
      case '\\' -> "\\\\";
      case '\n' -> "\\n";
      case '\r' -> "\\r";
      case '\t' -> "\\t";
      default ->
          character < ' '
              ? String.format(Locale.ROOT, "\\u%04x", character)
              : String.valueOf((char) character);
    };
  }
}
