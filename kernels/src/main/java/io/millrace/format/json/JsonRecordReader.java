// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.device.HostMemory;
import io.millrace.format.record.FieldType;
import io.millrace.format.record.RecordError;
import io.millrace.format.record.RecordField;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RowBuilder;
import io.millrace.format.record.RowReader;
import io.millrace.format.text.NumberText;
import io.millrace.format.text.TextCursor;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the members of a JSON object into the columns of a row. The twin of json_value.cuh. Used by
 * one thread.
 */
final class JsonRecordReader implements RowReader {
  private static final int NO_FIELD = -1;
  private static final int LONGEST_SCALAR = 64;

  private final JsonText json = new JsonText();
  private final TextCursor text = json.text;
  private final TextCursor part = new TextCursor();
  private final NumberText number = new NumberText();
  private final long copy = HostMemory.allocate(LONGEST_SCALAR);
  private final RecordField[] fields;
  private final JsonName[] names;
  private final boolean[] requires;
  private final boolean[] seen;
  private final RowBuilder row;
  private int field;

  /**
   * @param names of the fields
   * @param row of the fields
   */
  JsonRecordReader(RecordFields fields, List<JsonName> names, RowBuilder row) {
    this.fields = new RecordField[fields.size()];
    this.requires = new boolean[fields.size()];
    for (int i = 0; i < fields.size(); i++) {
      this.fields[i] = fields.get(i);
      requires[i] = fields.requires(i);
    }
    this.names = names.toArray(JsonName[]::new);
    this.seen = new boolean[fields.size()];
    this.row = row;
  }

  @Override
  public boolean isPresent(int index) {
    return row.isPresent(index);
  }

  @Override
  public long read(long address, int start, int end, int intoRow) {
    json.reset(address, start, end);
    row.begin(intoRow);
    field = 0;
    Arrays.fill(seen, false);
    if (!readRecord()) {
      row.clear();
    } else if (row.isUndecided()) {
      json.fail(RecordError.UNDECIDED);
    }
    return json.error().word(field, Math.min(text.at(), end) - start);
  }

  private boolean readRecord() {
    int next = json.skipSpace();
    if (next == TextCursor.END_OF_TEXT) {
      return json.fail(RecordError.BLANK);
    }
    if (next != '{') {
      return json.skipValue(next)
          && json.fail(
              json.skipSpace() == TextCursor.END_OF_TEXT
                  ? RecordError.NO_OBJECT
                  : RecordError.MORE);
    }
    text.next();
    row.setPresent(0);
    if (!readMembers()) {
      return false;
    }
    return json.skipSpace() == TextCursor.END_OF_TEXT || json.fail(RecordError.MORE);
  }

  private boolean readMembers() {
    int object = 0;
    int expected = fields[0].firstChild();
    boolean first = true;
    for (; ; ) {
      int next = json.skipSpace();
      text.next();
      if (next == '}') {
        if (requires[object] && !hasRequired(fields[object])) {
          return false;
        }
        if (object == 0) {
          return true;
        }
        expected = object + 1;
        object = fields[object].parent();
        first = false;
        continue;
      }
      if (!first) {
        if (next != ',') {
          return json.fail(RecordError.NO_JSON);
        }
        next = json.skipSpace();
        text.next();
      }
      first = false;
      if (next != '"') {
        return json.fail(RecordError.NO_JSON);
      }
      int child = readName(fields[object], expected);
      if (json.error() != RecordError.VALID) {
        return false;
      }
      if (json.skipSpace() != ':') {
        return json.fail(RecordError.NO_JSON);
      }
      text.next();
      next = json.skipSpace();
      if (child == NO_FIELD) {
        if (!json.skipValue(next)) {
          return false;
        }
        continue;
      }
      expected = child + 1;
      field = child;
      if (seen[child]) {
        return json.fail(RecordError.DUPLICATE);
      }
      seen[child] = true;
      if (next == '{' && fields[child].kind() == FieldType.OBJECT) {
        text.next();
        row.setPresent(child);
        object = child;
        expected = fields[child].firstChild();
        first = true;
      } else if (!readScalar(child, next)) {
        return false;
      }
    }
  }

  private boolean hasRequired(RecordField object) {
    for (int i = object.firstChild(); i < object.firstChild() + object.children(); i++) {
      if (fields[i].isRequired() && !seen[i]) {
        field = i;
        return json.fail(RecordError.MISSING);
      }
    }
    return true;
  }

  private int readName(RecordField object, int expected) {
    int last = object.firstChild() + object.children();
    if (expected < last && names[expected].takeQuoted(text)) {
      return expected;
    }
    if (!json.readString()) {
      return NO_FIELD;
    }
    for (int i = object.firstChild(); i < last; i++) {
      if (isLastName(names[i])) {
        return i;
      }
    }
    return NO_FIELD;
  }

  private boolean isLastName(JsonName name) {
    if (name.bytes() != json.bytes()) {
      return false;
    }
    part.reset(text, json.start(), json.start() + json.writtenBytes());
    if (!json.hasEscapes()) {
      return name.isNext(part);
    }
    long resolved = HostMemory.allocate(json.bytes());
    try {
      JsonText.resolveEscapes(part, json.bytes(), resolved);
      part.reset(resolved, 0, json.bytes());
      return name.isNext(part);
    } finally {
      HostMemory.free(resolved);
    }
  }

  private boolean readScalar(int index, int next) {
    RecordField into = fields[index];
    if (next == '"') {
      text.next();
      if (!readStringValue(into, index)) {
        return false;
      }
    } else if (TextCursor.isDigit(next) || next == '-') {
      if (!readNumberValue(into, index)) {
        return false;
      }
    } else if (next == 'n') {
      if (!text.takeWord(JsonText.NULL, JsonText.NULL_BYTES)) {
        return json.fail(RecordError.NO_JSON);
      }
      return into.nullable() || json.fail(RecordError.UNEXPECTED_NULL);
    } else if (next == 't' || next == 'f') {
      boolean isLiteral =
          next == 't'
              ? text.takeWord(JsonText.TRUE, JsonText.TRUE_BYTES)
              : text.takeWord(JsonText.FALSE, JsonText.FALSE_BYTES);
      if (!isLiteral) {
        return json.fail(RecordError.NO_JSON);
      }
      if (into.kind() != FieldType.BOOL) {
        return json.fail(RecordError.WRONG_TYPE);
      }
      row.putBool(index, next == 't');
    } else {
      return json.fail(next == '{' || next == '[' ? RecordError.WRONG_TYPE : RecordError.NO_JSON);
    }
    row.setPresent(index);
    return true;
  }

  private boolean readNumberValue(RecordField into, int index) {
    if (!number.read(text, true)) {
      return json.fail(RecordError.NO_JSON);
    }
    boolean isNumber =
        switch (into.kind()) {
          case FLOAT, DECIMAL -> true;
          case INTEGER -> number.isInteger();
          default -> false;
        };
    if (!isNumber) {
      return json.fail(RecordError.WRONG_TYPE);
    }
    boolean valid =
        switch (into.kind()) {
          case FLOAT -> row.putFloat(index, number, text);
          case DECIMAL -> row.putDecimal(index, number, text);
          default -> row.putInteger(index, number);
        };
    return valid || json.fail(RecordError.INVALID_VALUE);
  }

  private boolean readStringValue(RecordField into, int index) {
    if (!json.readString()) {
      return false;
    }
    return switch (into.kind()) {
      case STRING -> {
        row.putString(index, json.start(), json.hasEscapes(), json.bytes());
        yield true;
      }
      case OBJECT, BOOL, INTEGER -> json.fail(RecordError.WRONG_TYPE);
      default -> {
        boolean valid = openText() && row.putText(index, part) && part.isAtEnd();
        boolean isFloat = into.kind() == FieldType.FLOAT;
        yield valid || json.fail(isFloat ? RecordError.WRONG_TYPE : RecordError.INVALID_VALUE);
      }
    };
  }

  private boolean openText() {
    part.reset(text, json.start(), json.start() + json.writtenBytes());
    if (!json.hasEscapes()) {
      return true;
    }
    if (json.bytes() > LONGEST_SCALAR) {
      return false;
    }
    JsonText.resolveEscapes(part, json.bytes(), copy);
    part.reset(copy, 0, json.bytes());
    return true;
  }

  @Override
  public void close() {
    HostMemory.free(copy);
  }
}
