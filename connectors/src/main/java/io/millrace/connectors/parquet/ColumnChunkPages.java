// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Dictionary;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.DataPageHeaderV2;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.Util;

/** The pages of a column chunk in memory, decompressed one after the other. Used by one thread. */
final class ColumnChunkPages {
  /**
   * A data page.
   *
   * @param values number of values, nulls included
   * @param isVersion2 whether {@code content} has levels without lengths, as its header tells them
   * @param repetitionBytes of levels of version 2, at the start of {@code content}
   * @param definitionBytes of levels of version 2, behind them
   */
  record Page(
      int values,
      Encoding encoding,
      Encoding repetitionEncoding,
      Encoding definitionEncoding,
      boolean isVersion2,
      int repetitionBytes,
      int definitionBytes,
      ByteBuffer content) {}

  private final byte[] file;
  private final ColumnMetaData chunk;
  private final ColumnDescriptor column;
  private final int end;
  private int position;
  // null before a dictionary page was read.
  private Dictionary dictionary;

  /**
   * @param file with the chunk at its offset
   */
  ColumnChunkPages(byte[] file, ColumnMetaData chunk, ColumnDescriptor column) {
    this.file = file;
    this.chunk = chunk;
    this.column = column;
    this.position = Math.toIntExact(ParquetFooter.offset(chunk));
    this.end = position + Math.toIntExact(chunk.getTotal_compressed_size());
  }

  /**
   * The dictionary of the pages that refer to one.
   *
   * @throws IOException if there is none
   */
  Dictionary dictionary() throws IOException {
    if (dictionary == null) {
      throw new IOException("a page refers to a dictionary that is missing");
    }
    return dictionary;
  }

  /**
   * The next data page.
   *
   * @return null behind the last page
   * @throws IOException if a page is corrupt
   */
  Page next() throws IOException {
    while (position < end) {
      ByteArrayInputStream in = new ByteArrayInputStream(file, position, end - position);
      PageHeader header = Util.readPageHeader(in);
      int start = end - in.available();
      int bytes = header.getCompressed_page_size();
      if (bytes < 0 || bytes > end - start || header.getUncompressed_page_size() < 0) {
        throw new IOException("a page of " + bytes + " bytes does not fit its column chunk");
      }
      checkSum(header, start);
      position = start + bytes;
      switch (header.getType()) {
        case DATA_PAGE -> {
          return page(header, start);
        }
        case DATA_PAGE_V2 -> {
          return pageOfVersion2(header, start);
        }
        case DICTIONARY_PAGE -> readDictionary(header, start);
        case INDEX_PAGE -> {}
      }
    }
    return null;
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

  private byte[] decompress(PageHeader header, int start) throws IOException {
    return ParquetCompression.decompress(
        chunk.getCodec(),
        file,
        start,
        header.getCompressed_page_size(),
        header.getUncompressed_page_size());
  }

  private void readDictionary(PageHeader header, int start) throws IOException {
    Encoding encoding = encoding(header.getDictionary_page_header().getEncoding());
    DictionaryPage page =
        new DictionaryPage(
            BytesInput.from(decompress(header, start)),
            header.getDictionary_page_header().getNum_values(),
            encoding);
    dictionary = encoding.initDictionary(column, page);
  }

  private Page page(PageHeader header, int start) throws IOException {
    var description = header.getData_page_header();
    return new Page(
        description.getNum_values(),
        encoding(description.getEncoding()),
        encoding(description.getRepetition_level_encoding()),
        encoding(description.getDefinition_level_encoding()),
        false,
        0,
        0,
        ByteBuffer.wrap(decompress(header, start)));
  }

  private Page pageOfVersion2(PageHeader header, int start) throws IOException {
    DataPageHeaderV2 description = header.getData_page_header_v2();
    int repetitionBytes = description.getRepetition_levels_byte_length();
    int definitionBytes = description.getDefinition_levels_byte_length();
    int levels = repetitionBytes + definitionBytes;
    int bytes = header.getCompressed_page_size();
    int size = header.getUncompressed_page_size();
    if (repetitionBytes < 0
        || definitionBytes < 0
        || levels < 0
        || levels > Math.min(bytes, size)) {
      throw new IOException("a page has levels of " + levels + " bytes");
    }
    byte[] content = new byte[size];
    System.arraycopy(file, start, content, 0, levels);
    boolean isCompressed = !description.isSetIs_compressed() || description.isIs_compressed();
    if (size > levels) {
      byte[] values =
          ParquetCompression.decompress(
              isCompressed
                  ? chunk.getCodec()
                  : org.apache.parquet.format.CompressionCodec.UNCOMPRESSED,
              file,
              start + levels,
              bytes - levels,
              size - levels);
      System.arraycopy(values, 0, content, levels, values.length);
    }
    return new Page(
        description.getNum_values(),
        encoding(description.getEncoding()),
        Encoding.RLE,
        Encoding.RLE,
        true,
        repetitionBytes,
        definitionBytes,
        ByteBuffer.wrap(content));
  }

  private static Encoding encoding(org.apache.parquet.format.Encoding encoding) {
    return Encoding.valueOf(encoding.name());
  }
}
