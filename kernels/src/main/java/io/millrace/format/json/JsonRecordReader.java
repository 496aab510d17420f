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
 * Reads the members of a JSON object, or an element of a list, into the columns of a row. The twin
 * of json_value.cuh. Used by one thread.
 */
final class JsonRecordReader implements RowReader {
  private static final int NO_FIELD = -1;
  private static final int ELEMENT = 1;
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
  private final boolean areElements;
  private final boolean isChange;
  // Of the fields, those that a text before this one has; and whether another text follows.
  private final boolean[] given;
  private boolean isPartial;
  private int field;

  // The object whose members are read, which of its fields is expected, and whether none was read.
  private int object;
  private int expected;
  private boolean isFirst;

  /**
   * @param names of the fields
   * @param row of the fields
   * @param isChange as of {@link JsonFormat}
   */
  JsonRecordReader(RecordFields fields, List<JsonName> names, RowBuilder row, boolean isChange) {
    this.fields = new RecordField[fields.size()];
    this.requires = new boolean[fields.size()];
    for (int i = 0; i < fields.size(); i++) {
      this.fields[i] = fields.get(i);
      requires[i] = fields.requires(i);
    }
    this.names = names.toArray(JsonName[]::new);
    this.seen = new boolean[fields.size()];
    this.given = new boolean[fields.size()];
    this.row = row;
    this.areElements = fields.areElements();
    this.isChange = isChange;
  }

  @Override
  public boolean isPresent(int index) {
    return row.isPresent(index);
  }

  @Override
  public long read(long address, int start, int end, int intoRow) {
    begin(intoRow);
    return finish(readText(address, start, end), start);
  }

  @Override
  public long read(long address, int start, int end, int other, int otherEnd, int intoRow) {
    begin(intoRow);
    isPartial = true;
    boolean valid = readText(address, start, end);
    if (valid) {
      System.arraycopy(seen, 0, given, 0, seen.length);
      isPartial = false;
      valid = readText(address, other, otherEnd);
      Arrays.fill(given, false);
    }
    return finish(valid, start);
  }

  private void begin(int intoRow) {
    row.begin(intoRow);
    field = 0;
    isPartial = false;
    Arrays.fill(seen, false);
  }

  private boolean readText(long address, int start, int end) {
    json.reset(address, start, end);
    object = NO_FIELD;
    return readRecord();
  }

  private long finish(boolean valid, int start) {
    if (!valid) {
      row.clear();
    } else if (row.isUndecided()) {
      json.fail(RecordError.UNDECIDED);
    }
    return json.error().word(field, Math.min(text.at(), text.end()) - start);
  }

  private boolean readRecord() {
    int next = json.skipSpace();
    if (next == TextCursor.END_OF_TEXT) {
      return json.fail(RecordError.BLANK);
    }
    if (!areElements && next != '{') {
      return json.skipValue(next)
          && json.fail(
              json.skipSpace() == TextCursor.END_OF_TEXT
                  ? RecordError.NO_OBJECT
                  : RecordError.MORE);
    }
    row.setPresent(0);
    if (areElements) {
      field = ELEMENT;
      if (!readValue(ELEMENT, next)) {
        return false;
      }
    } else {
      beginObject(0);
    }
    if (object != NO_FIELD && !readMembers(object)) {
      return false;
    }
    return json.skipSpace() == TextCursor.END_OF_TEXT || json.fail(RecordError.MORE);
  }

  // Goes on behind the brace, which is next.
  private void beginObject(int index) {
    text.next();
    row.setPresent(index);
    object = index;
    expected = fields[index].firstChild();
    isFirst = true;
  }

  // Reads the members of an object that was begun, and of those in it that are fields.
  private boolean readMembers(int outermost) {
    for (; ; ) {
      int next = json.skipSpace();
      text.next();
      if (next == '}') {
        boolean mayMiss = isPartial && object == 0;
        if (requires[object] && !mayMiss && !hasRequired(fields[object])) {
          return false;
        }
        if (object == outermost) {
          return true;
        }
        expected = object + 1;
        object = fields[object].parent();
        isFirst = false;
      } else if (!readMember(next)) {
        return false;
      }
    }
  }

  // Reads a member, with the comma before it if there is one: the byte that was taken.
  private boolean readMember(int first) {
    int next = first;
    if (!isFirst) {
      if (next != ',') {
        return json.fail(RecordError.NO_JSON);
      }
      next = json.skipSpace();
      text.next();
    }
    isFirst = false;
    if (next != '"') {
      return json.fail(RecordError.NO_JSON);
    }
    int child = readName(fields[object]);
    if (json.error() != RecordError.VALID) {
      return false;
    }
    if (json.skipSpace() != ':') {
      return json.fail(RecordError.NO_JSON);
    }
    text.next();
    next = json.skipSpace();
    if (child == NO_FIELD || given[child]) {
      return json.skipValue(next);
    }
    expected = child + 1;
    field = child;
    if (seen[child]) {
      return json.fail(RecordError.DUPLICATE);
    }
    seen[child] = true;
    return readValue(child, next);
  }

  // Reads the value of a field, of an object only its brace. `next` is the first byte.
  private boolean readValue(int index, int next) {
    FieldType kind = fields[index].kind();
    if (next == '{' && kind == FieldType.OBJECT) {
      beginObject(index);
      return true;
    }
    if (kind == FieldType.LIST && next == (fields[index].isObject() ? '{' : '[')) {
      int start = text.at();
      if (!json.skipValue(next)) {
        return false;
      }
      row.putList(index, start, 0, next == '{' ? 1 : json.elements());
      row.setPresent(index);
      return true;
    }
    return readScalar(index, next);
  }

  private boolean hasRequired(RecordField parent) {
    for (int i = parent.firstChild(); i < parent.firstChild() + parent.children(); i++) {
      if (fields[i].isRequired() && !seen[i]) {
        field = i;
        return json.fail(RecordError.MISSING);
      }
    }
    return true;
  }

  private int readName(RecordField parent) {
    int last = parent.firstChild() + parent.children();
    if (expected < last && names[expected].takeQuoted(text)) {
      return expected;
    }
    if (!json.readString()) {
      return NO_FIELD;
    }
    for (int i = parent.firstChild(); i < last; i++) {
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
      case STRING -> putString(into, index) || json.fail(RecordError.INVALID_VALUE);
      case OBJECT, LIST -> json.fail(RecordError.WRONG_TYPE);
      case BOOL, INTEGER -> isChange ? putConverted(index) : json.fail(RecordError.WRONG_TYPE);
      case FLOAT ->
          isChange ? putConverted(index) : putText(index) || json.fail(RecordError.WRONG_TYPE);
      default -> putText(index) || json.fail(RecordError.INVALID_VALUE);
    };
  }

  private boolean putText(int index) {
    return openText() && row.putText(index, part) && part.isAtEnd();
  }

  private boolean putConverted(int index) {
    boolean valid = openText() && row.putScalar(index, part) && part.isAtEnd();
    return valid || json.fail(RecordError.INVALID_VALUE);
  }

  private boolean putString(RecordField into, int index) {
    int bytes = into.isBinary() ? json.base64Bytes() : json.bytes();
    row.putString(index, json.start(), into.isBinary() || json.hasEscapes(), bytes);
    return bytes != JsonText.NO_BYTES;
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
