// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.format.text.TextCursor;
import io.millrace.memory.MemoryResource;

/** The twin of lines.cu. */
final class HostLineKernels implements LineKernels {
  private static final int CHUNK_BYTES = 1 << 10;

  @Override
  public int find(
      long text,
      int size,
      FieldQuotes quotes,
      long starts,
      int capacity,
      DeviceStream stream,
      MemoryResource memory) {
    HostMemory.putInt(starts, 0);
    if (quotes != null) {
      return findQuoted(text, size, quotes, starts, capacity);
    }
    int lines = 0;
    int bytes;
    for (int at = 0; at < size; at += bytes) {
      bytes = Math.min(CHUNK_BYTES, size - at);
      lines = findInChunk(text, at, bytes, starts, lines, capacity);
    }
    return HostMemory.getByte(text + size - 1) == '\n'
        ? lines
        : putEnd(starts, lines, capacity, size);
  }

  private static int findQuoted(
      long text, int size, FieldQuotes quotes, long starts, int capacity) {
    QuotedLineState state = QuotedLineState.START;
    int lines = 0;
    boolean ended = false;
    for (int at = 0; at < size; at++) {
      if (state.isSteady()) {
        at = skipSteady(text, at, size, quotes);
      }
      int next = HostMemory.getByte(text + at);
      ended = next == '\n' && !state.isQuoted();
      if (ended) {
        lines++;
        put(starts, lines, capacity, at + 1);
      }
      state = next == '\n' ? state.behindLineFeed() : state.behind(next & 0xff, quotes);
    }
    return ended ? lines : putEnd(starts, lines, capacity, size);
  }

  // The position of the next byte that may change a steady state, or of a byte before it.
  private static int skipSteady(long text, int from, int size, FieldQuotes quotes) {
    int at = from;
    for (; size - at > Long.BYTES; at += Long.BYTES) {
      long word = HostMemory.getLong(text + at);
      long special =
          TextCursor.bytesEqual(word, '\n')
              | TextCursor.bytesEqual(word, quotes.delimiter())
              | TextCursor.bytesEqual(word, (char) (quotes.quote() & 0xff))
              | TextCursor.bytesEqual(word, (char) (quotes.escape() & 0xff));
      if (special != 0) {
        return at + Long.numberOfTrailingZeros(special) / Byte.SIZE;
      }
    }
    return at;
  }

  // The last line may lack its line feed.
  private static int putEnd(long starts, int lines, int capacity, int size) {
    put(starts, lines + 1, capacity, size);
    return lines + 1;
  }

  // A method of its own, which the compiler sees often: a text has millions of bytes, but there are
  // few texts.
  private static int findInChunk(
      long text, int from, int bytes, long starts, int linesBefore, int capacity) {
    int lines = linesBefore;
    int end = from + bytes;
    int at = from;
    for (; end - at >= Long.BYTES; at += Long.BYTES) {
      long found = TextCursor.bytesEqual(HostMemory.getLong(text + at), '\n');
      for (; found != 0; found &= found - 1) {
        lines++;
        put(starts, lines, capacity, at + Long.numberOfTrailingZeros(found) / Byte.SIZE + 1);
      }
    }
    for (; at < end; at++) {
      if (HostMemory.getByte(text + at) == '\n') {
        lines++;
        put(starts, lines, capacity, at + 1);
      }
    }
    return lines;
  }

  private static void put(long starts, int line, int capacity, int position) {
    if (line < capacity) {
      HostMemory.putInt(starts + (long) line * Integer.BYTES, position);
    }
  }
}
