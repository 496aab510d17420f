// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Random;

/** Writes pages byte by byte, with runs that are cut at random. */
final class PageWriter {
  private final Random random;

  PageWriter(Random random) {
    this.random = random;
  }

  /** A data page and what its header says. */
  static final class Written {
    private final DataPage header;
    private final byte[] page;

    Written(DataPage header, byte[] page) {
      this.header = header;
      this.page = page;
    }

    DataPage header() {
      return header;
    }

    byte[] page() {
      return page;
    }
  }

  /** The fewest bits of codes of a dictionary. */
  static int bitWidth(int dictionarySize) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(dictionarySize - 1);
  }

  /** The bits in which a page holds a value, with its length if it is one of bytes. */
  static byte[] plain(PhysicalType type, Object value) {
    return switch (type) {
      case BOOLEAN -> throw new IllegalArgumentException("a BOOLEAN has no bytes");
      case INT32 -> little(Integer.BYTES).putInt(((Number) value).intValue()).array();
      case INT64 -> little(Long.BYTES).putLong(((Number) value).longValue()).array();
      case BYTE_ARRAY -> {
        byte[] bytes =
            value instanceof String text
                ? text.getBytes(StandardCharsets.UTF_8)
                : ((ByteBuffer) value).array();
        yield little(Integer.BYTES + bytes.length).putInt(bytes.length).put(bytes).array();
      }
    };
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Values without nulls, one after the other. */
  static byte[] plain(PhysicalType type, List<?> values) {
    if (type == PhysicalType.BOOLEAN) {
      int[] bits = values.stream().mapToInt(value -> (Boolean) value ? 1 : 0).toArray();
      return packed(bits, 0, bits.length, 1);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    values.forEach(value -> out.writeBytes(plain(type, value)));
    return out.toByteArray();
  }

  private static byte[] packed(int[] values, int start, int count, int bitWidth) {
    byte[] bytes = new byte[(int) (((long) count * bitWidth + 7) / 8)];
    for (int i = 0; i < count; i++) {
      for (int bit = 0; bit < bitWidth; bit++) {
        int place = i * bitWidth + bit;
        bytes[place / 8] |= (byte) ((values[start + i] >>> bit & 1) << (place % 8));
      }
    }
    return bytes;
  }

  /** Values in runs: repeated ones of any length, and packed ones of any number of groups. */
  byte[] runs(int[] values, int bitWidth) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < values.length; ) {
      int same = i + 1;
      while (same < values.length && values[same] == values[i]) {
        same++;
      }
      if (random.nextInt(4) < (same - i > 8 ? 3 : 1)) {
        int count = random.nextBoolean() ? same - i : 1 + random.nextInt(same - i);
        varint(out, count << 1);
        byte[] value = little(Integer.BYTES).putInt(values[i]).array();
        out.write(value, 0, (bitWidth + 7) / 8);
        i += count;
      } else {
        int left = values.length - i;
        int groups = Math.min((left + 7) / 8, 1 + random.nextInt(random.nextBoolean() ? 3 : 80));
        int count = Math.min(left, groups * 8);
        varint(out, groups << 1 | 1);
        byte[] bits = packed(values, i, count, bitWidth);
        out.writeBytes(bits);
        i += count;
        // Some writers leave the bytes behind the last value out.
        if (i < values.length || random.nextBoolean()) {
          out.writeBytes(new byte[groups * bitWidth - bits.length]);
        }
      }
      if (random.nextInt(10) == 0 && i < values.length) {
        varint(out, 1);
      }
    }
    return out.toByteArray();
  }

  private static void varint(ByteArrayOutputStream out, int value) {
    int left = value;
    for (; left >>> 7 != 0; left >>>= 7) {
      out.write((left & 0x7f) | 0x80);
    }
    out.write(left);
  }

  /**
   * A data page.
   *
   * @param values with nulls if the column is optional
   * @param codes of the values that are present; null for PLAIN or RLE
   * @param bitWidth of the codes
   */
  Written page(
      FlatColumn column,
      List<?> values,
      boolean isVersion2,
      boolean isRle,
      int[] codes,
      int bitWidth) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int definitionBytes = 0;
    if (column.isOptional()) {
      byte[] levels = runs(values.stream().mapToInt(x -> x == null ? 0 : 1).toArray(), 1);
      definitionBytes = levels.length;
      if (!isVersion2) {
        out.writeBytes(little(Integer.BYTES).putInt(levels.length).array());
      }
      out.writeBytes(levels);
    }
    List<?> present = values.stream().filter(Objects::nonNull).toList();
    ValueEncoding encoding = ValueEncoding.PLAIN;
    if (codes != null) {
      encoding = ValueEncoding.DICTIONARY;
      out.write(bitWidth);
      out.writeBytes(runs(codes, bitWidth));
    } else if (isRle) {
      encoding = ValueEncoding.RLE;
      byte[] bits = runs(present.stream().mapToInt(x -> (Boolean) x ? 1 : 0).toArray(), 1);
      out.writeBytes(little(Integer.BYTES).putInt(bits.length).array());
      out.writeBytes(bits);
    } else {
      out.writeBytes(plain(column.type(), present));
    }
    DataPage header =
        new DataPage(values.size(), encoding, isVersion2, 0, isVersion2 ? definitionBytes : 0);
    return new Written(header, out.toByteArray());
  }
}
