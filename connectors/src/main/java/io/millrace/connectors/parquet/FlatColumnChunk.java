// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.DataType.Field;
import io.millrace.connectors.parquet.CompressedPages.CompressedPage;
import io.millrace.format.parquet.ColumnPages;
import io.millrace.format.parquet.DataPage;
import io.millrace.format.parquet.FlatColumn;
import io.millrace.format.parquet.PhysicalType;
import io.millrace.format.parquet.RowGroupPages;
import io.millrace.format.parquet.ValueEncoding;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DataPageHeaderV2;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.PageType;

/**
 * A column chunk that is decoded page by page as a whole, without the library: it is not nested,
 * and all of its pages have encodings that {@link ColumnPages} knows.
 */
final class FlatColumnChunk {
  private final FlatColumn column;
  private final CompressedPages compressed;
  private final List<CompressedPage> pages;

  private FlatColumnChunk(
      FlatColumn column, CompressedPages compressed, List<CompressedPage> pages) {
    this.column = column;
    this.compressed = compressed;
    this.pages = pages;
  }

  /**
   * The chunk of a column; empty if the library has to decode it.
   *
   * @param column a leaf
   * @param field the column of tables
   * @param file with the chunk at its offset
   * @throws IOException if the header of a page is corrupt
   */
  static Optional<FlatColumnChunk> of(
      ParquetColumn column, Field field, byte[] file, ColumnMetaData chunk) throws IOException {
    Optional<PhysicalType> type = physicalType(column);
    if (type.isEmpty()) {
      return Optional.empty();
    }
    FlatColumn flat =
        new FlatColumn(
            field,
            type.get(),
            ParquetType.isUnsigned(column.element()),
            column.definitionLevel() > 0);
    CompressedPages compressed = new CompressedPages(file, chunk);
    List<CompressedPage> pages = new ArrayList<>();
    for (CompressedPage page = compressed.next(); page != null; page = compressed.next()) {
      if (page.header().getType() == PageType.INDEX_PAGE) {
        continue;
      }
      if (!isKnown(page.header(), flat)) {
        return Optional.empty();
      }
      pages.add(page);
    }
    return Optional.of(new FlatColumnChunk(flat, compressed, pages));
  }

  private static Optional<PhysicalType> physicalType(ParquetColumn column) {
    return switch (column.element().getType()) {
      case BOOLEAN -> Optional.of(PhysicalType.BOOLEAN);
      case INT32, FLOAT -> Optional.of(PhysicalType.INT32);
      case INT64, DOUBLE -> Optional.of(PhysicalType.INT64);
      case BYTE_ARRAY ->
          column.field().type().isDecimal()
              ? Optional.empty()
              : Optional.of(PhysicalType.BYTE_ARRAY);
      case INT96, FIXED_LEN_BYTE_ARRAY -> Optional.empty();
    };
  }

  private static boolean isKnown(PageHeader header, FlatColumn column) {
    return switch (header.getType()) {
      case DATA_PAGE -> {
        DataPageHeader page = header.getData_page_header();
        boolean hasKnownLevels =
            !column.isOptional() || page.getDefinition_level_encoding() == Encoding.RLE;
        yield hasKnownLevels && encoding(page.getEncoding(), column).isPresent();
      }
      case DATA_PAGE_V2 ->
          encoding(header.getData_page_header_v2().getEncoding(), column).isPresent();
      case DICTIONARY_PAGE ->
          switch (header.getDictionary_page_header().getEncoding()) {
            case PLAIN, PLAIN_DICTIONARY -> column.type() != PhysicalType.BOOLEAN;
            default -> false;
          };
      case INDEX_PAGE -> true;
    };
  }

  private static Optional<ValueEncoding> encoding(Encoding encoding, FlatColumn column) {
    boolean isBoolean = column.type() == PhysicalType.BOOLEAN;
    return switch (encoding) {
      case PLAIN -> Optional.of(ValueEncoding.PLAIN);
      case PLAIN_DICTIONARY, RLE_DICTIONARY ->
          isBoolean ? Optional.empty() : Optional.of(ValueEncoding.DICTIONARY);
      case RLE -> isBoolean ? Optional.of(ValueEncoding.RLE) : Optional.empty();
      default -> Optional.empty();
    };
  }

  /** The number of pages. */
  int pages() {
    return pages.size();
  }

  /** Bytes of all pages without compression. */
  long bytes() {
    return pages.stream().mapToLong(CompressedPage::bytes).sum();
  }

  /**
   * Decompresses the pages to {@code rowGroup}.
   *
   * @throws IOException if a page is corrupt
   */
  void addTo(RowGroupPages rowGroup) throws IOException {
    ColumnPages target = rowGroup.add(column);
    for (CompressedPage page : pages) {
      byte[] content = compressed.decompress(page);
      PageHeader header = page.header();
      if (header.getType() == PageType.DICTIONARY_PAGE) {
        target.addDictionary(content, header.getDictionary_page_header().getNum_values());
      } else {
        target.add(dataPage(header), content);
      }
    }
  }

  private DataPage dataPage(PageHeader header) {
    if (header.getType() == PageType.DATA_PAGE) {
      DataPageHeader page = header.getData_page_header();
      ValueEncoding encoding = encoding(page.getEncoding(), column).orElseThrow();
      return new DataPage(page.getNum_values(), encoding, false, 0, 0);
    }
    DataPageHeaderV2 page = header.getData_page_header_v2();
    return new DataPage(
        page.getNum_values(),
        encoding(page.getEncoding(), column).orElseThrow(),
        true,
        page.getRepetition_levels_byte_length(),
        page.getDefinition_levels_byte_length());
  }
}
