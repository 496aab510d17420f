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
   * The {@code size} bytes of a page.
   *
   * @param source holds the compressed page at {@code start}
   * @throws IOException if the page is corrupt or has another size
   */
  static byte[] decompress(CompressionCodec codec, byte[] source, int start, int length, int size)
      throws IOException {
    byte[] page = new byte[size];
    long written =
        switch (codec) {
          case ZSTD -> Zstd.decompressByteArray(page, 0, size, source, start, length);
          case SNAPPY -> snappy(source, start, length, page);
          case GZIP -> gzip(source, start, length, page);
          case UNCOMPRESSED -> copy(source, start, length, page);
          case LZO, BROTLI, LZ4, LZ4_RAW ->
              throw new IOException(
                  "pages are compressed by " + codec + ", which is not supported");
        };
    if (written != size) {
      String reason = Zstd.isError(written) ? Zstd.getErrorName(written) : written + " bytes";
      throw new IOException("expected a page of " + size + " bytes, got " + reason);
    }
    return page;
  }

  private static long snappy(byte[] source, int start, int length, byte[] page) throws IOException {
    int size = Snappy.uncompressedLength(source, start, length);
    return size == page.length ? Snappy.uncompress(source, start, length, page, 0) : size;
  }

  private static long gzip(byte[] source, int start, int length, byte[] page) throws IOException {
    try (GZIPInputStream in =
        new GZIPInputStream(new ByteArrayInputStream(source, start, length))) {
      int read = in.readNBytes(page, 0, page.length);
      return in.read() < 0 ? read : read + 1L;
    }
  }

  private static long copy(byte[] source, int start, int length, byte[] page) {
    if (length == page.length) {
      System.arraycopy(source, start, page, 0, length);
    }
    return length;
  }
}
