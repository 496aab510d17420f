// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import java.io.IOException;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A JSON text as Java values: Map, List, String, Integer, Long or BigInteger, BigDecimal, Boolean,
 * and null. The last of several members of one name counts. Read and written by Jackson, which
 * Flink uses as well, so that the two agree on what JSON is.
 *
 * @param root the value of the whole text
 */
record JsonTree(Object root) {
  // A wrapper may stand around a text of the depth that is read at most.
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamWriteConstraints(
              StreamWriteConstraints.builder()
                  .maxNestingDepth(StreamReadConstraints.DEFAULT_MAX_DEPTH + 1)
                  .build())
          .build();

  /**
   * Reads the value at the start of a text, whatever is behind it. Empty if the text does not begin
   * with a value.
   */
  static Optional<JsonTree> parse(String text) {
    try (JsonParser parser = FACTORY.createParser(text)) {
      return parser.nextToken() == null
          ? Optional.empty()
          : Optional.of(new JsonTree(value(parser)));
    } catch (IOException | NumberFormatException e) { // the latter for an exponent of many digits
      return Optional.empty();
    }
  }

  /** Why a text cannot be parsed, as Jackson tells it. */
  static String failure(String text) {
    try (JsonParser parser = FACTORY.createParser(text)) {
      if (parser.nextToken() != null) {
        value(parser);
      }
      return "the text is empty";
    } catch (IOException | NumberFormatException e) {
      return e.getMessage();
    }
  }

  /** Whether a value is neither an object nor an array. */
  static boolean isScalar(Object value) {
    return !(value instanceof Map) && !(value instanceof List);
  }

  private static Object value(JsonParser parser) throws IOException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> object(parser);
      case START_ARRAY -> array(parser);
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT -> parser.getNumberValue();
      case VALUE_NUMBER_FLOAT -> parser.getDecimalValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> throw new IllegalStateException("expected a value, got " + parser.currentToken());
    };
  }

  private static Map<String, Object> object(JsonParser parser) throws IOException {
    Map<String, Object> members = new LinkedHashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      parser.nextToken();
      members.put(name, value(parser));
    }
    return members;
  }

  private static List<Object> array(JsonParser parser) throws IOException {
    List<Object> elements = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      elements.add(value(parser));
    }
    return elements;
  }

  /**
   * Writes a value without white space, the members of objects in the order of their names. Empty
   * if it is nested too deeply to be written.
   */
  static Optional<String> write(Object value) {
    StringWriter text = new StringWriter();
    try (JsonGenerator generator = FACTORY.createGenerator(text)) {
      write(value, generator);
    } catch (IOException e) {
      return Optional.empty();
    }
    return Optional.of(text.toString());
  }

  private static void write(Object value, JsonGenerator generator) throws IOException {
    if (value instanceof Map<?, ?> members) {
      generator.writeStartObject();
      for (Map.Entry<?, ?> member : new TreeMap<>(members).entrySet()) {
        generator.writeFieldName((String) member.getKey());
        write(member.getValue(), generator);
      }
      generator.writeEndObject();
    } else if (value instanceof List<?> elements) {
      generator.writeStartArray();
      for (Object element : elements) {
        write(element, generator);
      }
      generator.writeEndArray();
    } else {
      writeScalar(value, generator);
    }
  }

  private static void writeScalar(Object value, JsonGenerator generator) throws IOException {
    if (value instanceof String text) {
      generator.writeString(text);
    } else if (value instanceof Boolean bool) {
      generator.writeBoolean(bool);
    } else if (value instanceof BigDecimal number) {
      generator.writeNumber(number);
    } else if (value instanceof BigInteger number) {
      generator.writeNumber(number);
    } else if (value instanceof Number number) {
      generator.writeNumber(number.longValue());
    } else {
      generator.writeNull();
    }
  }
}
