// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.device.HostMemory;
import io.millrace.format.parquet.PageStructures.Column;
import io.millrace.format.parquet.PageStructures.Page;
import io.millrace.format.parquet.ParquetKernels.Pages;
import java.util.concurrent.TimeUnit;

/** The twin of parquet_value.cuh, for all rows of a column, one after the other. */
final class HostColumnDecoder {
  private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private final Pages pages;
  private final long firstPage;
  private final int pageCount;
  private final int type;
  private final int width;
  private final boolean isUnsigned;
  private final long values;
  private final long second;
  private final long validity;
  private boolean hasBadCode;

  // Of the page that is decoded.
  private int encoding;
  private long plain;
  private long starts;
  private int dictionarySize;
  private HostCodes codes;

  HostColumnDecoder(Pages pages, long column) {
    this.pages = pages;
    this.firstPage =
        pages.pages() + (long) PageStructures.get(column, Column.PAGE) * Page.LAYOUT.bytes();
    this.pageCount = PageStructures.get(column, Column.PAGE_COUNT);
    this.type = PageStructures.get(column, Column.TYPE);
    this.width = PageStructures.get(column, Column.WIDTH);
    this.isUnsigned = PageStructures.get(column, Column.IS_UNSIGNED) != 0;
    this.values = PageStructures.get(column, Column.VALUES);
    this.second = PageStructures.get(column, Column.SECOND);
    this.validity = PageStructures.get(column, Column.VALIDITY);
  }

  /** Whether a page has a code that its dictionary lacks. */
  boolean hasBadCode() {
    return hasBadCode;
  }

  void decode() {
    if (validity != 0) {
      long words = ((long) pages.rows() + Integer.SIZE - 1) / Integer.SIZE;
      HostMemory.fill(validity, words * Integer.BYTES, (byte) 0);
    }
    for (int i = 0; i < pageCount; i++) {
      long page = firstPage + (long) i * Page.LAYOUT.bytes();
      int end =
          i + 1 < pageCount
              ? PageStructures.get(page + Page.LAYOUT.bytes(), Page.FIRST_ROW)
              : pages.rows();
      open(page);
      decode(page, end);
    }
  }

  private void open(long page) {
    encoding = PageStructures.get(page, Page.ENCODING);
    codes = new HostCodes(pages, page);
    boolean isPlain = encoding == ValueEncoding.PLAIN.number();
    plain = PageStructures.get(page, isPlain ? Page.VALUES : Page.DICTIONARY);
    long start = PageStructures.get(page, isPlain ? Page.CODE_RUN : Page.DICTIONARY_START);
    starts = pages.words() + start * Integer.BYTES;
    dictionarySize = PageStructures.get(page, Page.DICTIONARY_SIZE);
  }

  private void decode(long page, int end) {
    int firstRow = PageStructures.get(page, Page.FIRST_ROW);
    int runs = PageStructures.get(page, Page.LEVEL_RUN_COUNT);
    if (runs == 0) {
      putPresent(firstRow, end - firstRow, 0);
      return;
    }
    long run = pages.words() + (long) PageStructures.get(page, Page.LEVEL_RUN) * Integer.BYTES;
    long levels = pages.bytes() + PageStructures.get(page, Page.LEVELS);
    for (int i = 0; i < runs; i++, run += 3L * Integer.BYTES) {
      int row = firstRow + HostMemory.getInt(run);
      int number = HostMemory.getInt(run + Integer.BYTES);
      int place = HostMemory.getInt(run + 2L * Integer.BYTES);
      int next = i + 1 < runs ? firstRow + HostMemory.getInt(run + 3L * Integer.BYTES) : end;
      if (place == ColumnPages.ALL_PRESENT) {
        putPresent(row, next - row, number);
      } else if (place == ColumnPages.NONE_PRESENT) {
        putNulls(row, next - row);
      } else {
        decodeLevels(levels + place, row, next - row, number);
      }
    }
  }

  private void decodeLevels(long levels, int firstRow, int count, int firstNumber) {
    int number = firstNumber;
    int done = 0;
    while (done < count) {
      boolean isPresent = HostMemory.getBit(levels, done);
      int start = done++;
      while (done < count && HostMemory.getBit(levels, done) == isPresent) {
        done++;
      }
      if (isPresent) {
        putPresent(firstRow + start, done - start, number);
        number += done - start;
      } else {
        putNulls(firstRow + start, done - start);
      }
    }
  }

  private void putNulls(int row, int count) {
    HostMemory.fill(values + (long) row * width, (long) count * width, (byte) 0);
    if (second != 0) {
      HostMemory.fill(second + (long) row * Integer.BYTES, (long) count * Integer.BYTES, (byte) 0);
    }
  }

  private void putPresent(int row, int count, int number) {
    if (validity != 0) {
      setBits(row, count);
    }
    if (encoding != ValueEncoding.PLAIN.number()) {
      putCodes(row, count, number);
    } else if (isCopy()) {
      HostMemory.copy(
          values + (long) row * width,
          pages.bytes() + plain + (long) number * width,
          (long) count * width);
    } else {
      for (int i = 0; i < count; i++) {
        put(row + i, (long) number + i);
      }
    }
  }

  private boolean isCopy() {
    return second == 0
        && ((type == PhysicalType.INT64.number() && width == Long.BYTES)
            || (type == PhysicalType.INT32.number() && width == Integer.BYTES));
  }

  private void putCodes(int row, int count, int number) {
    boolean isDictionary = encoding == ValueEncoding.DICTIONARY.number();
    for (int i = 0; i < count; i++) {
      int code = codes.at(number + i);
      if (!isDictionary) {
        putBits(row + i, code);
      } else if (Integer.compareUnsigned(code, dictionarySize) < 0) {
        put(row + i, Integer.toUnsignedLong(code));
      } else {
        hasBadCode = true;
        putNulls(row + i, 1);
      }
    }
  }

  private void setBits(int row, int count) {
    for (int i = row; i < row + count; ) {
      long address = validity + (long) (i / Long.SIZE) * Long.BYTES;
      int first = i % Long.SIZE;
      int bits = Math.min(Long.SIZE - first, row + count - i);
      // The mask is padded to whole words of 64 bits.
      HostMemory.putLong(
          address, HostMemory.getLong(address) | -1L >>> (Long.SIZE - bits) << first);
      i += bits;
    }
  }

  // The value at an index of plain values.
  private void put(int row, long index) {
    long from = pages.bytes() + plain;
    if (type == PhysicalType.BYTE_ARRAY.number()) {
      long place = starts + index * Integer.BYTES;
      int start = HostMemory.getInt(place);
      int next = HostMemory.getInt(place + Integer.BYTES);
      HostMemory.putLong(values + (long) row * Long.BYTES, plain + start);
      HostMemory.putInt(second + (long) row * Integer.BYTES, next - start - Integer.BYTES);
    } else if (type == PhysicalType.INT64.number()) {
      putBits(row, HostMemory.getLong(from + index * Long.BYTES));
    } else if (type == PhysicalType.INT32.number()) {
      int value = HostMemory.getInt(from + index * Integer.BYTES);
      putBits(row, isUnsigned ? Integer.toUnsignedLong(value) : value);
    } else {
      putBits(row, HostMemory.getBit(from, index) ? 1 : 0);
    }
  }

  private void putBits(int row, long bits) {
    long place = values + (long) row * width;
    if (second != 0) {
      HostMemory.putLong(place, Math.floorDiv(bits, NANOS_PER_MILLI));
      HostMemory.putInt(
          second + (long) row * Integer.BYTES, (int) Math.floorMod(bits, NANOS_PER_MILLI));
      return;
    }
    switch (width) {
      case Byte.BYTES -> HostMemory.putByte(place, (byte) bits);
      case Short.BYTES -> HostMemory.putShort(place, (short) bits);
      case Integer.BYTES -> HostMemory.putInt(place, (int) bits);
      case Long.BYTES -> HostMemory.putLong(place, bits);
      default -> {
        HostMemory.putLong(place, bits);
        HostMemory.putLong(place + Long.BYTES, bits >> (Long.SIZE - 1));
      }
    }
  }
}
