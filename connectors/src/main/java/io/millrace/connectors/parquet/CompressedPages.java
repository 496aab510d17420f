// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.zip.CRC32;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.DataPageHeaderV2;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.Util;

/** The pages of a column chunk in memory, one after the other. Used by one thread. */
final class CompressedPages {
  /**
   * A page of any kind.
   *
   * @param start of its bytes behind the header
   */
  record CompressedPage(PageHeader header, int start) {
    int bytes() {
      return header.getUncompressed_page_size();
    }
  }

  private final byte[] file;
  private final CompressionCodec codec;
  private final int end;
  private int position;

  /**
   * @param file with the chunk at its offset
   */
  CompressedPages(byte[] file, ColumnMetaData chunk) {
    this.file = file;
    this.codec = chunk.getCodec();
    this.position = Math.toIntExact(ParquetFooter.offset(chunk));
    this.end = position + Math.toIntExact(chunk.getTotal_compressed_size());
  }

  /**
   * The next page.
   *
   * @return null behind the last page
   * @throws IOException if its header is corrupt
   */
  CompressedPage next() throws IOException {
    if (position >= end) {
      return null;
    }
    ByteArrayInputStream in = new ByteArrayInputStream(file, position, end - position);
    PageHeader header = Util.readPageHeader(in);
    int start = end - in.available();
    int bytes = header.getCompressed_page_size();
    if (bytes < 0 || bytes > end - start || header.getUncompressed_page_size() < 0) {
      throw new IOException("a page of " + bytes + " bytes does not fit its column chunk");
    }
    position = start + bytes;
    CompressedPage page = new CompressedPage(header, start);
    int levels = levels(page);
    ParquetCompression.checkSize(
        codec(page), file, start + levels, bytes - levels, page.bytes() - levels);
    return page;
  }

  /**
   * The bytes of a page, with its levels.
   *
   * @throws IOException if the page is corrupt
   */
  byte[] decompress(CompressedPage page) throws IOException {
    PageHeader header = page.header();
    checkSum(header, page.start());
    int levels = levels(page);
    byte[] content = new byte[page.bytes()];
    System.arraycopy(file, page.start(), content, 0, levels);
    if (content.length > levels) {
      ParquetCompression.decompress(
          codec(page),
          file,
          page.start() + levels,
          header.getCompressed_page_size() - levels,
          content,
          levels);
    }
    return content;
  }

  private void checkSum(PageHeader header, int start) throws IOException {
    if (header.isSetCrc()) {
      CRC32 checksum = new CRC32();
      checksum.update(file, start, header.getCompressed_page_size());
      if ((int) checksum.getValue() != header.getCrc()) {
        throw new IOException("a page does not have the checksum of its header");
      }
    }
  }

  // The bytes that are not compressed: the levels of version 2.
  private static int levels(CompressedPage page) throws IOException {
    DataPageHeaderV2 header = page.header().getData_page_header_v2();
    if (header == null) {
      return 0;
    }
    int repetitionBytes = header.getRepetition_levels_byte_length();
    int definitionBytes = header.getDefinition_levels_byte_length();
    int levels = repetitionBytes + definitionBytes;
    if (repetitionBytes < 0
        || definitionBytes < 0
        || levels < 0
        || levels > Math.min(page.header().getCompressed_page_size(), page.bytes())) {
      throw new IOException("a page has levels of " + levels + " bytes");
    }
    return levels;
  }

  private CompressionCodec codec(CompressedPage page) {
    DataPageHeaderV2 header = page.header().getData_page_header_v2();
    boolean isCompressed =
        header == null || !header.isSetIs_compressed() || header.isIs_compressed();
    return isCompressed ? codec : CompressionCodec.UNCOMPRESSED;
  }
}
