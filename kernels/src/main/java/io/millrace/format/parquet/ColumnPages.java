// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.annotation.PublicEvolving;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The pages of a column chunk, and what their headers of runs say: what the kernels rely on is
 * checked here. Used by one thread.
 */
@PublicEvolving
public final class ColumnPages {
  // The words of a run of levels that has no bits; CUDA has the same.
  static final int ALL_PRESENT = -1;
  static final int NONE_PRESENT = -2;

  private static final int MAX_BIT_WIDTH = 32;
  // A thread counts the bits before its own, so that long runs are cut.
  private static final int MAX_PACKED_LEVELS = 256;

  /** A page, as {@code ParquetPage} in CUDA. */
  record Page(
      long levels,
      long values,
      long dictionary,
      int firstRow,
      ValueEncoding encoding,
      int levelRun,
      int levelRunCount,
      int codeRun,
      int codeRunCount,
      int bitWidth,
      int dictionarySize,
      int dictionaryStart) {}

  /** The values of a dictionary; {@code start} is the first of the starts of byte arrays. */
  private record Dictionary(long position, int size, int start) {}

  /** Runs among the words. */
  private record Runs(int first, int count) {}

  private final FlatColumn column;
  private final PageBytes bytes;
  private final IntegerList words;
  private final int rowLimit;
  private final List<Page> pages = new ArrayList<>();
  private Dictionary dictionary;
  private int rows;
  private int nulls;

  ColumnPages(FlatColumn column, PageBytes bytes, IntegerList words, int rowLimit) {
    this.column = column;
    this.bytes = bytes;
    this.words = words;
    this.rowLimit = rowLimit;
  }

  FlatColumn column() {
    return column;
  }

  List<Page> pages() {
    return pages;
  }

  int nulls() {
    return nulls;
  }

  /**
   * Copies the dictionary of the data pages that follow, whose values have PLAIN encoding.
   *
   * @throws IOException if the values are not within the page
   */
  public void addDictionary(byte[] page, int values) throws IOException {
    if (values < 0) {
      throw new IOException("a dictionary has " + values + " values");
    }
    int start = words.size();
    addPlain(page, 0, values);
    dictionary = new Dictionary(bytes.add(page), values, start);
  }

  /**
   * Copies a data page.
   *
   * @param page without compression: levels, then values
   * @throws IOException if the page is corrupt; codes of a dictionary that it lacks are found when
   *     the page is decoded
   */
  public void add(DataPage header, byte[] page) throws IOException {
    if (header.values() < 0 || header.values() > rowLimit - rows) {
      throw new IOException(
          "a page has "
              + header.values()
              + " values behind "
              + rows
              + " rows of a row group of "
              + rowLimit);
    }
    if (header.values() == 0) {
      return;
    }
    int levels = levelsStart(header, page);
    int values = valuesStart(header, page, levels);
    int nullsBefore = nulls;
    Runs levelRuns =
        column.isOptional() ? addLevels(page, levels, values, header.values()) : new Runs(0, 0);
    int present = header.values() - (nulls - nullsBefore);
    long position = bytes.add(page);
    addValues(header, page, position, levels, levelRuns, values, present);
    rows += header.values();
  }

  /**
   * @throws IOException if the pages have fewer rows than the row group, or have nulls that the
   *     column does not hold
   */
  void checkComplete() throws IOException {
    if (rows < rowLimit) {
      throw new IOException("the column chunk has fewer values than its row group");
    }
    if (nulls > 0 && !column.field().nullable()) {
      throw new IOException("it is NOT NULL and has " + nulls + " nulls");
    }
  }

  private int levelsStart(DataPage header, byte[] page) throws IOException {
    if (header.isVersion2()) {
      long levels = (long) header.repetitionBytes() + header.definitionBytes();
      if (header.repetitionBytes() < 0 || header.definitionBytes() < 0 || levels > page.length) {
        throw new IOException("a page has levels of " + levels + " bytes");
      }
      return header.repetitionBytes();
    }
    return column.isOptional() ? Integer.BYTES : 0;
  }

  private int valuesStart(DataPage header, byte[] page, int levels) throws IOException {
    if (header.isVersion2()) {
      return levels + header.definitionBytes();
    }
    return column.isOptional() ? endOfPrefixed(page, 0) : 0;
  }

  // The end of bytes that have their number before them.
  private static int endOfPrefixed(byte[] page, int start) throws IOException {
    if (page.length - start < Integer.BYTES) {
      throw new IOException("a page of " + page.length + " bytes ends before its values");
    }
    int length = integer(page, start);
    if (length < 0 || length > page.length - start - Integer.BYTES) {
      throw new IOException("a page has runs of " + length + " bytes, which do not fit it");
    }
    return start + Integer.BYTES + length;
  }

  private static int integer(byte[] page, int start) {
    return (int) PageBytes.INTEGER.get(page, start);
  }

  private Runs addLevels(byte[] page, int start, int end, int rowsOfPage) throws IOException {
    int first = words.size();
    int present = 0;
    HybridRuns runs = new HybridRuns(page, start, end, 1, rowsOfPage);
    while (runs.next()) {
      if (!runs.isPacked()) {
        if (runs.value() < 0 || runs.value() > 1) {
          throw new IOException("a page has a definition level of " + runs.value());
        }
        addLevelRun(runs.first(), present, runs.value() == 1 ? ALL_PRESENT : NONE_PRESENT);
        present += runs.value() * runs.count();
        continue;
      }
      for (int done = 0; done < runs.count(); done += MAX_PACKED_LEVELS) {
        int place = runs.start() + done / Byte.SIZE;
        addLevelRun(runs.first() + done, present, place - start);
        present += ones(page, place, Math.min(MAX_PACKED_LEVELS, runs.count() - done));
      }
    }
    nulls += rowsOfPage - present;
    if (present == rowsOfPage) {
      words.truncate(first);
      return new Runs(0, 0);
    }
    return new Runs(first, (words.size() - first) / 3);
  }

  private void addLevelRun(int firstRow, int present, int place) throws IOException {
    words.add(firstRow);
    words.add(present);
    words.add(place);
  }

  private static int ones(byte[] page, int start, int bits) {
    int ones = 0;
    int at = start;
    int left = bits;
    for (; left >= Long.SIZE; left -= Long.SIZE, at += Long.BYTES) {
      ones += Long.bitCount((long) PageBytes.LONG.get(page, at));
    }
    for (; left > 0; left -= Byte.SIZE, at++) {
      int mask = left >= Byte.SIZE ? 0xff : (1 << left) - 1;
      ones += Integer.bitCount(page[at] & mask);
    }
    return ones;
  }

  private void addValues(
      DataPage header,
      byte[] page,
      long position,
      int levels,
      Runs levelRuns,
      int start,
      int present)
      throws IOException {
    ValueEncoding encoding = present == 0 ? ValueEncoding.PLAIN : header.encoding();
    int valuesStart = start;
    int bitWidth = 0;
    Runs runs = new Runs(words.size(), 0);
    Dictionary codes = new Dictionary(0, 0, 0);
    if (encoding == ValueEncoding.PLAIN) {
      addPlain(page, start, present);
    } else if (encoding == ValueEncoding.RLE) {
      if (column.type() != PhysicalType.BOOLEAN) {
        throw new IOException("a page has the encoding RLE for " + column.type());
      }
      bitWidth = 1;
      valuesStart = start + Integer.BYTES;
      runs = addCodes(page, valuesStart, endOfPrefixed(page, start), bitWidth, present, 2);
    } else {
      if (dictionary == null) {
        throw new IOException("a page refers to a dictionary that is missing");
      }
      bitWidth = bitWidth(page, start);
      valuesStart = start + 1;
      runs = addCodes(page, valuesStart, page.length, bitWidth, present, dictionary.size());
      codes = dictionary;
    }
    pages.add(
        new Page(
            position + levels,
            position + valuesStart,
            codes.position(),
            rows,
            encoding,
            levelRuns.first(),
            levelRuns.count(),
            runs.first(),
            runs.count(),
            bitWidth,
            codes.size(),
            codes.start()));
  }

  private static int bitWidth(byte[] page, int start) throws IOException {
    if (start >= page.length) {
      throw new IOException("a page of " + page.length + " bytes ends before its values");
    }
    int bitWidth = page[start];
    if (bitWidth < 0 || bitWidth > MAX_BIT_WIDTH) {
      throw new IOException("a page has codes of " + (bitWidth & 0xff) + " bits");
    }
    return bitWidth;
  }

  private Runs addCodes(byte[] page, int start, int end, int bitWidth, int values, int codes)
      throws IOException {
    int first = words.size();
    HybridRuns runs = new HybridRuns(page, start, end, bitWidth, values);
    while (runs.next()) {
      if (!runs.isPacked() && Integer.compareUnsigned(runs.value(), codes) >= 0) {
        throw badCode();
      }
      words.add(runs.first());
      words.add(runs.isPacked() ? runs.start() - start : ~runs.value());
    }
    return new Runs(first, (words.size() - first) / 2);
  }

  /** What is thrown for a code that its dictionary lacks. */
  static IOException badCode() {
    return new IOException("a page refers to a value that its dictionary lacks");
  }

  private void addPlain(byte[] page, int start, int values) throws IOException {
    if (column.hasBytes()) {
      addStarts(page, start, values);
      return;
    }
    long needed =
        column.type() == PhysicalType.BOOLEAN
            ? ((long) values + Byte.SIZE - 1) / Byte.SIZE
            : (long) values * column.type().byteWidth();
    if (needed > page.length - start) {
      throw new IOException(
          "expected "
              + needed
              + " bytes of values in a page, got "
              + Math.max(0, page.length - start));
    }
  }

  // Where each value begins behind its length, and where one behind the last value would.
  private void addStarts(byte[] page, int start, int values) throws IOException {
    int at = start;
    for (int i = 0; i < values; i++) {
      if (page.length - at < Integer.BYTES) {
        throw new IOException("a page has " + i + " values instead of " + values);
      }
      int length = integer(page, at);
      at += Integer.BYTES;
      if (length < 0 || length > page.length - at) {
        throw new IOException("a value of " + length + " bytes does not fit its page");
      }
      words.add(at - start);
      at += length;
    }
    words.add(at - start + Integer.BYTES);
  }
}
