// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonFactory;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonParser;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonProcessingException;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonToken;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;

/**
 * Reads one JSON value as a value of a field. Numbers must be JSON numbers, except NaN, the
 * infinities and decimals, which may be strings; all else that JSON has no type for is a string.
 */
final class JsonValueReader {
  private static final JsonFactory FACTORY = new JsonFactory();
  // Jackson says where an object starts together with what it does not say about its source.
  private static final Pattern START_MARKER =
      Pattern.compile(" \\(start marker at \\[Source[^\\]]*\\]\\)");

  private JsonValueReader() {}

  static Object read(ValueField field, byte[] json) throws MalformedLineException {
    try (JsonParser parser = FACTORY.createParser(json)) {
      return read(field, parser);
    } catch (IOException e) {
      throw malformedJson(e);
    }
  }

  static Object read(ValueField field, String json) throws MalformedLineException {
    try (JsonParser parser = FACTORY.createParser(json)) {
      return read(field, parser);
    } catch (IOException e) {
      throw malformedJson(e);
    }
  }

  private static MalformedLineException malformedJson(IOException e) {
    String message =
        e instanceof JsonProcessingException json && json.getLocation() != null
            ? START_MARKER.matcher(json.getOriginalMessage()).replaceAll("")
                + " at character "
                + json.getLocation().getColumnNr()
            : e.getMessage();
    return new MalformedLineException("no JSON: " + message, e);
  }

  private static Object read(ValueField field, JsonParser parser)
      throws IOException, MalformedLineException {
    if (parser.nextToken() == null) {
      throw new MalformedLineException("there is no JSON value");
    }
    Object value = readValue(field, parser);
    if (parser.nextToken() != null) {
      throw new MalformedLineException("there is more behind the JSON value");
    }
    return value;
  }

  private static Object readValue(ValueField field, JsonParser parser)
      throws IOException, MalformedLineException {
    JsonToken token = parser.currentToken();
    if (token == JsonToken.VALUE_NULL) {
      if (!field.nullable()) {
        throw field.path().isEmpty()
            ? new MalformedLineException("the line is null, not a JSON object")
            : MalformedLineException.unexpectedNull(field, "null");
      }
      return null;
    }
    return switch (field.type().id()) {
      case STRUCT -> readStruct(field, parser);
      case LIST -> readList(field, parser);
      case BOOL -> readScalar(field, parser, token.isBoolean());
      case INT8, INT16, INT32, INT64 ->
          readScalar(field, parser, token == JsonToken.VALUE_NUMBER_INT);
      case FLOAT32, FLOAT64 ->
          readScalar(field, parser, token.isNumeric() || isNotFinite(parser, token));
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          readScalar(field, parser, token.isNumeric() || token == JsonToken.VALUE_STRING);
      default -> readScalar(field, parser, token == JsonToken.VALUE_STRING);
    };
  }

  private static boolean isNotFinite(JsonParser parser, JsonToken token) throws IOException {
    return token == JsonToken.VALUE_STRING
        && (parser.getText().equals("NaN") || parser.getText().endsWith("Infinity"));
  }

  private static Object readScalar(ValueField field, JsonParser parser, boolean fits)
      throws IOException, MalformedLineException {
    if (!fits) {
      throw mismatch(field, parser);
    }
    return ScalarParser.parse(field, parser.getText());
  }

  private static MalformedLineException mismatch(ValueField field, JsonParser parser)
      throws IOException {
    String found =
        switch (parser.currentToken()) {
          case START_OBJECT -> "a JSON object";
          case START_ARRAY -> "a JSON array";
          case VALUE_STRING -> "the JSON string \"" + parser.getText() + "\"";
          default -> "the JSON value " + parser.getText();
        };
    return field.path().isEmpty()
        ? new MalformedLineException("the line is " + found + ", not a JSON object")
        : new MalformedLineException(
            "column '" + field.path() + "': expected " + field.type() + ", got " + found);
  }

  private static GenericRowData readStruct(ValueField struct, JsonParser parser)
      throws IOException, MalformedLineException {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw mismatch(struct, parser);
    }
    int size = struct.children().size();
    GenericRowData row = new GenericRowData(size);
    boolean[] seen = new boolean[size];
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      Integer position = struct.positions().get(parser.currentName());
      parser.nextToken();
      if (position == null) {
        parser.skipChildren();
        continue;
      }
      if (seen[position]) {
        throw new MalformedLineException(
            "column '" + struct.child(position).path() + "' is there twice");
      }
      seen[position] = true;
      row.setField(position, readValue(struct.child(position), parser));
    }
    for (int i = 0; i < size; i++) {
      if (!seen[i] && !struct.child(i).nullable()) {
        throw MalformedLineException.unexpectedNull(struct.child(i), "missing");
      }
    }
    return row;
  }

  private static GenericArrayData readList(ValueField list, JsonParser parser)
      throws IOException, MalformedLineException {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw mismatch(list, parser);
    }
    List<Object> elements = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      elements.add(readValue(list.child(0), parser));
    }
    return new GenericArrayData(elements.toArray());
  }
}
