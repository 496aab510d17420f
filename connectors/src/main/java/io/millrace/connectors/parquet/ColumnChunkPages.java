// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.connectors.parquet.CompressedPages.CompressedPage;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Dictionary;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DataPageHeaderV2;
import org.apache.parquet.format.DictionaryPageHeader;
import org.apache.parquet.format.PageHeader;

/** The data pages of a column chunk, decompressed one after the other. Used by one thread. */
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

  private final CompressedPages pages;
  private final ColumnDescriptor column;
  // null before a dictionary page was read.
  private Dictionary dictionary;

  ColumnChunkPages(CompressedPages pages, ColumnDescriptor column) {
    this.pages = pages;
    this.column = column;
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
    for (CompressedPage page = pages.next(); page != null; page = pages.next()) {
      PageHeader header = page.header();
      switch (header.getType()) {
        case DATA_PAGE -> {
          return page(header.getData_page_header(), pages.decompress(page));
        }
        case DATA_PAGE_V2 -> {
          return pageOfVersion2(header.getData_page_header_v2(), pages.decompress(page));
        }
        case DICTIONARY_PAGE ->
            readDictionary(header.getDictionary_page_header(), pages.decompress(page));
        case INDEX_PAGE -> {}
      }
    }
    return null;
  }

  private void readDictionary(DictionaryPageHeader header, byte[] content) throws IOException {
    Encoding encoding = encoding(header.getEncoding());
    DictionaryPage page =
        new DictionaryPage(BytesInput.from(content), header.getNum_values(), encoding);
    dictionary = encoding.initDictionary(column, page);
  }

  private static Page page(DataPageHeader header, byte[] content) {
    return new Page(
        header.getNum_values(),
        encoding(header.getEncoding()),
        encoding(header.getRepetition_level_encoding()),
        encoding(header.getDefinition_level_encoding()),
        false,
        0,
        0,
        ByteBuffer.wrap(content));
  }

  private static Page pageOfVersion2(DataPageHeaderV2 header, byte[] content) {
    return new Page(
        header.getNum_values(),
        encoding(header.getEncoding()),
        Encoding.RLE,
        Encoding.RLE,
        true,
        header.getRepetition_levels_byte_length(),
        header.getDefinition_levels_byte_length(),
        ByteBuffer.wrap(content));
  }

  private static Encoding encoding(org.apache.parquet.format.Encoding encoding) {
    return Encoding.valueOf(encoding.name());
  }
}
