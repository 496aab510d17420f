// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import io.millrace.device.HostMemory;
import io.millrace.format.record.RecordError;
import io.millrace.format.record.RecordField;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RowBuilder;
import io.millrace.format.record.RowReader;
import io.millrace.format.text.TextCursor;

/**
 * Reads the fields of a record of CSV into a row. The twin of csv_value.cuh. Used by one thread.
 */
final class CsvRecordReader implements RowReader {
  private static final int SKIPPED = 0;
  private static final int BYTE_MASK = 0xff;

  private final TextCursor text = new TextCursor();
  private final TextCursor part = new TextCursor();
  private final RecordField[] fields;
  private final int[] positions;
  private final RowBuilder row;
  private final int delimiter;
  private final int quote;
  private final int escape;
  // A byte that no text in UTF-8 has, if there is no such character.
  private final char delimiterByte;
  private final char quoteByte;
  private final char escapeByte;
  private final long[] nullWords;
  private final int nullBytes;
  private final int minFields;
  private final int maxFields;
  private RecordError error;
  private int field;

  // Of the last field: where it begins with its quote, and where its value is.
  private int first;
  private int start;
  private int writtenBytes;
  private int bytes;
  private boolean isQuoted;

  CsvRecordReader(RecordFields fields, CsvFormat format, RowBuilder row) {
    this.fields = new RecordField[fields.size()];
    for (int i = 0; i < fields.size(); i++) {
      this.fields[i] = fields.get(i);
    }
    this.positions = new int[format.size()];
    for (int i = 0; i < positions.length; i++) {
      positions[i] = format.fieldAt(i);
    }
    this.row = row;
    CsvReaderOptions options = format.options();
    this.delimiter = options.quotes().delimiter();
    this.quote = options.quotes().quote();
    this.escape = options.quotes().escape();
    this.delimiterByte = (char) (delimiter & BYTE_MASK);
    this.quoteByte = (char) (quote & BYTE_MASK);
    this.escapeByte = (char) (escape & BYTE_MASK);
    this.nullWords = format.nullWords();
    this.nullBytes = format.nullBytes();
    this.minFields = positions.length - options.maxMissingFields();
    this.maxFields = positions.length + format.maxExtraFields();
  }

  @Override
  public boolean isPresent(int index) {
    return row.isPresent(index);
  }

  @Override
  public long read(long address, int from, int end, int intoRow) {
    text.reset(address, from, end);
    row.begin(intoRow);
    error = RecordError.VALID;
    field = 0;
    if (!readRecord()) {
      row.clear();
    } else if (row.isUndecided()) {
      error = RecordError.UNDECIDED;
    }
    return error.word(field, text.at() - from);
  }

  private boolean fail(RecordError why) {
    error = why;
    return false;
  }

  private boolean failAt(int position, RecordError why) {
    text.moveTo(position);
    return fail(why);
  }

  private boolean readRecord() {
    text.dropLineEnd();
    if (text.isAtEnd() && positions.length > 1) {
      return fail(RecordError.BLANK);
    }
    row.setPresent(0);
    int position = 0;
    for (; ; text.next()) {
      if (position == maxFields) {
        field = position;
        return fail(RecordError.TOO_MANY_FIELDS);
      }
      field = position < positions.length ? positions[position] : SKIPPED;
      if (!readField() || (field != SKIPPED && !putValue())) {
        return false;
      }
      position++;
      if (text.isAtEnd()) {
        return hasFields(position);
      }
    }
  }

  private boolean hasFields(int count) {
    if (count < minFields) {
      field = count;
      return fail(RecordError.TOO_FEW_FIELDS);
    }
    for (int position = count; position < positions.length; position++) {
      field = positions[position];
      if (field != SKIPPED && fields[field].isRequired()) {
        return fail(RecordError.MISSING);
      }
    }
    return true;
  }

  /** Reads a field up to the delimiter behind it or to the end. */
  private boolean readField() {
    first = text.at();
    isQuoted = text.peek() == quote;
    if (isQuoted) {
      text.next();
    }
    start = text.at();
    int saved = 0;
    for (boolean isOpen = true; isOpen; ) {
      skipPlain();
      int at = text.at();
      int next = text.peek();
      if (next == TextCursor.END_OF_TEXT) {
        if (isQuoted) {
          return failAt(first, RecordError.UNCLOSED_QUOTE);
        }
        isOpen = false;
      } else if (next >= 0x80) {
        if (!text.takeUtf8()) {
          return failAt(at, RecordError.NO_UTF8);
        }
      } else if (next == escape) {
        if (!takeEscape()) {
          return false;
        }
        saved++;
      } else if (!isQuoted) {
        if (next == quote) {
          return fail(RecordError.STRAY_QUOTE);
        }
        isOpen = false;
      } else {
        text.next();
        isOpen = text.peek() == quote;
        if (isOpen) {
          text.next();
          saved++;
        }
      }
    }
    writtenBytes = text.at() - start - (isQuoted ? 1 : 0);
    bytes = writtenBytes - saved;
    return text.isAtEnd() || text.peek() == delimiter || fail(RecordError.TEXT_BEHIND_QUOTE);
  }

  // Takes an escape, and the character behind it if that is ASCII.
  private boolean takeEscape() {
    int at = text.at();
    text.next();
    int next = text.peek();
    if (next == TextCursor.END_OF_TEXT) {
      return failAt(at, RecordError.UNFINISHED_ESCAPE);
    }
    if (next < 0x80) {
      text.next();
    }
    return true;
  }

  // Goes on to the next byte that may end the field or needs a look; to the end if there is none.
  private void skipPlain() {
    int at = text.at();
    int end = text.end();
    for (; end - at >= Long.BYTES; at += Long.BYTES) {
      long word = HostMemory.getLong(text.address() + at);
      long special =
          TextCursor.bytesEqual(word, quoteByte)
              | TextCursor.bytesEqual(word, escapeByte)
              | TextCursor.notAscii(word)
              | (isQuoted ? 0 : TextCursor.bytesEqual(word, delimiterByte));
      if (special != 0) {
        text.moveTo(at + Long.numberOfTrailingZeros(special) / Byte.SIZE);
        return;
      }
    }
    while (at < end && !isSpecial(HostMemory.getByte(text.address() + at))) {
      at++;
    }
    text.moveTo(at);
  }

  private boolean isSpecial(byte next) {
    return next < 0 || next == quote || next == escape || (next == delimiter && !isQuoted);
  }

  private boolean putValue() {
    part.reset(text, start, start + writtenBytes);
    if (!isQuoted && writtenBytes == nullBytes && part.startsWith(nullWords, nullBytes)) {
      return !fields[field].isRequired() || failAt(first, RecordError.UNEXPECTED_NULL);
    }
    boolean hasEscapes = bytes < writtenBytes;
    boolean valid =
        switch (fields[field].kind()) {
          case STRING -> {
            row.putString(field, start, hasEscapes, bytes);
            yield true;
          }
          default -> !hasEscapes && row.putScalar(field, part) && part.isAtEnd();
        };
    if (!valid) {
      return failAt(first, RecordError.INVALID_VALUE);
    }
    row.setPresent(field);
    return true;
  }
}
