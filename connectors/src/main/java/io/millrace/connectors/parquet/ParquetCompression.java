// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import com.github.luben.zstd.Zstd;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.zip.GZIPInputStream;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.parquet.format.CompressionCodec;
import org.xerial.snappy.Snappy;

/** How the pages of files that are written are compressed. */
@PublicEvolving
public enum ParquetCompression {
  /** Zstandard at level 3. */
  ZSTD(CompressionCodec.ZSTD),
  SNAPPY(CompressionCodec.SNAPPY),
  NONE(CompressionCodec.UNCOMPRESSED);

  private static final int ZSTD_LEVEL = 3;

  private final CompressionCodec codec;

  ParquetCompression(CompressionCodec codec) {
    this.codec = codec;
  }

  CompressionCodec codec() {
    return codec;
  }

  byte[] compress(byte[] page) throws IOException {
    return switch (this) {
      case ZSTD -> Zstd.compress(page, ZSTD_LEVEL);
      case SNAPPY -> Snappy.compress(page);
      case NONE -> page;
    };
  }

  /** Whether {@link #decompress} knows {@code codec}; also GZIP, which other writers use. */
  static boolean canDecompress(CompressionCodec codec) {
    return switch (codec) {
      case ZSTD, SNAPPY, GZIP, UNCOMPRESSED -> true;
      case LZO, BROTLI, LZ4, LZ4_RAW -> false;
    };
  }

  /**
   * Checks the size of a page before there is room for it, as far as its compressed bytes tell it.
   *
   * @param source holds the compressed page at {@code start}
   * @throws IOException if the page has another size
   */
  static void checkSize(CompressionCodec codec, byte[] source, int start, int length, int size)
      throws IOException {
    if (length == 0 && size == 0) {
      return;
    }
    long known =
        switch (codec) {
          case ZSTD -> Zstd.getFrameContentSize(source, start, length);
          case SNAPPY -> Snappy.uncompressedLength(source, start, length);
          case UNCOMPRESSED -> length;
          // Frames of zstd may lack their size too: it is negative then.
          case GZIP, LZO, BROTLI, LZ4, LZ4_RAW -> -1;
        };
    if (known >= 0 && known != size) {
      throw unexpected(size, known + " bytes");
    }
  }

  private static IOException unexpected(int size, String found) {
    return new IOException("expected a page of " + size + " bytes, got " + found);
  }

  /**
   * Decompresses a page, up to the end of {@code target}.
   *
   * @param source holds the compressed page at {@code start}
   * @throws IOException if the page is corrupt or has another size
   */
  static void decompress(
      CompressionCodec codec, byte[] source, int start, int length, byte[] target, int targetStart)
      throws IOException {
    int size = target.length - targetStart;
    long written =
        switch (codec) {
          case ZSTD -> Zstd.decompressByteArray(target, targetStart, size, source, start, length);
          case SNAPPY -> snappy(source, start, length, target, targetStart);
          case GZIP -> gzip(source, start, length, target, targetStart);
          case UNCOMPRESSED -> copy(source, start, length, target, targetStart);
          case LZO, BROTLI, LZ4, LZ4_RAW ->
              throw new IOException(
                  "pages are compressed by " + codec + ", which is not supported");
        };
    if (written != size) {
      throw unexpected(
          size, Zstd.isError(written) ? Zstd.getErrorName(written) : written + " bytes");
    }
  }

  private static long snappy(byte[] source, int start, int length, byte[] target, int targetStart)
      throws IOException {
    int size = Snappy.uncompressedLength(source, start, length);
    return size == target.length - targetStart
        ? Snappy.uncompress(source, start, length, target, targetStart)
        : size;
  }

  private static long gzip(byte[] source, int start, int length, byte[] target, int targetStart)
      throws IOException {
    try (GZIPInputStream in =
        new GZIPInputStream(new ByteArrayInputStream(source, start, length))) {
      int read = in.readNBytes(target, targetStart, target.length - targetStart);
      return in.read() < 0 ? read : read + 1L;
    }
  }

  private static long copy(byte[] source, int start, int length, byte[] target, int targetStart) {
    if (length == target.length - targetStart) {
      System.arraycopy(source, start, target, targetStart, length);
    }
    return length;
  }
}
