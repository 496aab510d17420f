// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;

/**
 * A set of code points other than surrogates, as disjoint, non-adjacent ranges in ascending order.
 * Immutable.
 */
record CodePointSet(List<Range> ranges) {
  static final CodePointSet NONE = new CodePointSet(List.of());

  private static final int FIRST_SURROGATE = 0xd800;
  private static final int LAST_SURROGATE = 0xdfff;
  private static final int[] LAST_OF_LENGTH = {0x7f, 0x7ff, 0xffff};
  private static final int CONTINUATION_BITS = 6;

  /** An inclusive range. */
  record Range(int first, int last) {}

  /** A set of inclusive ranges given as pairs. */
  static CodePointSet ofRanges(int... firstAndLast) {
    List<Range> ranges = new ArrayList<>();
    for (int i = 0; i < firstAndLast.length; i += 2) {
      ranges.add(new Range(firstAndLast[i], firstAndLast[i + 1]));
    }
    return normalized(ranges);
  }

  CodePointSet union(CodePointSet other) {
    List<Range> all = new ArrayList<>(ranges);
    all.addAll(other.ranges);
    return normalized(all);
  }

  /** All code points that are not in this set. */
  CodePointSet complement() {
    List<Range> taken = new ArrayList<>(ranges);
    taken.add(new Range(FIRST_SURROGATE, LAST_SURROGATE));
    List<Range> gaps = new ArrayList<>();
    int next = 0;
    for (Range range : normalized(taken).ranges) {
      if (next < range.first) {
        gaps.add(new Range(next, range.first - 1));
      }
      next = range.last + 1;
    }
    if (next <= Character.MAX_CODE_POINT) {
      gaps.add(new Range(next, Character.MAX_CODE_POINT));
    }
    return new CodePointSet(List.copyOf(gaps));
  }

  private static CodePointSet normalized(List<Range> ranges) {
    List<Range> sorted = new ArrayList<>(ranges);
    sorted.sort(Comparator.comparingInt(Range::first));
    List<Range> result = new ArrayList<>();
    for (Range range : sorted) {
      int end = result.size() - 1;
      if (end >= 0 && range.first <= result.get(end).last + 1) {
        Range before = result.get(end);
        result.set(end, new Range(before.first, Math.max(before.last, range.last)));
      } else {
        result.add(range);
      }
    }
    return new CodePointSet(List.copyOf(result));
  }

  /**
   * The UTF-8 encodings of the set, as sequences of one to four byte ranges. Every combination of
   * bytes in a sequence encodes a code point of the set.
   */
  List<List<Range>> utf8() {
    List<List<Range>> sequences = new ArrayList<>();
    Deque<Range> rest = new ArrayDeque<>(ranges);
    while (!rest.isEmpty()) {
      Range range = rest.pop();
      int cut = lastBeforeCut(range);
      if (cut < range.last) {
        rest.push(new Range(cut + 1, range.last));
        rest.push(new Range(range.first, cut));
      } else {
        sequences.add(byteRanges(range));
      }
    }
    return sequences;
  }

  // Split points of a range: within each part, all encodings have the same length, and each byte
  // takes every value between its first and last value independently of the other bytes.
  private static int lastBeforeCut(Range range) {
    for (int last : LAST_OF_LENGTH) {
      if (range.first <= last && last < range.last) {
        return last;
      }
    }
    int length = byteCount(range.first);
    for (int i = 1; i < length; i++) {
      int mask = (1 << (CONTINUATION_BITS * i)) - 1;
      if ((range.first & ~mask) != (range.last & ~mask)) {
        if ((range.first & mask) != 0) {
          return range.first | mask;
        }
        if ((range.last & mask) != mask) {
          return (range.last & ~mask) - 1;
        }
      }
    }
    return range.last;
  }

  private static List<Range> byteRanges(Range range) {
    List<Range> bytes = new ArrayList<>();
    int length = byteCount(range.first);
    for (int i = 0; i < length; i++) {
      bytes.add(new Range(utf8Byte(range.first, length, i), utf8Byte(range.last, length, i)));
    }
    return bytes;
  }

  private static int byteCount(int codePoint) {
    int length = 1;
    for (int last : LAST_OF_LENGTH) {
      length += codePoint > last ? 1 : 0;
    }
    return length;
  }

  private static int utf8Byte(int codePoint, int length, int index) {
    int shifted = codePoint >> (CONTINUATION_BITS * (length - 1 - index));
    if (length == 1) {
      return shifted;
    }
    int lead = (0xff00 >> length) & 0xff;
    return index == 0 ? lead | shifted : 0x80 | (shifted & 0x3f);
  }
}
