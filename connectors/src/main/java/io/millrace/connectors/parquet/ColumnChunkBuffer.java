// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.PageWriter;
import org.apache.parquet.column.statistics.SizeStatistics;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DataPageHeaderV2;
import org.apache.parquet.format.DictionaryPageHeader;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.PageType;
import org.apache.parquet.format.Util;

/** The compressed pages of a column chunk, until its row group is written. Used by one thread. */
final class ColumnChunkBuffer implements PageWriter {
  private final ColumnDescriptor column;
  private final ParquetCompression compression;
  private final ByteArrayOutputStream dictionaryPage = new ByteArrayOutputStream();
  private final ByteArrayOutputStream dataPages = new ByteArrayOutputStream();
  private final Set<Encoding> encodings = EnumSet.noneOf(Encoding.class);
  private final Statistics<?> statistics;
  private long values;
  private long uncompressedBytes;

  ColumnChunkBuffer(ColumnDescriptor column, ParquetCompression compression) {
    this.column = column;
    this.compression = compression;
    this.statistics = Statistics.createStats(column.getPrimitiveType());
  }

  /** Bytes of the pages so far. */
  @Override
  public long getMemSize() {
    return (long) dictionaryPage.size() + dataPages.size();
  }

  @Override
  public long allocatedSize() {
    return getMemSize();
  }

  @Override
  public String memUsageString(String prefix) {
    return prefix + " " + getMemSize() + " bytes";
  }

  // Abstract in the interface, though it is deprecated there.
  @Override
  @SuppressWarnings("deprecation")
  public void writePage(
      BytesInput bytes,
      int valueCount,
      Statistics<?> pageStatistics,
      Encoding repetition,
      Encoding definition,
      Encoding valuesEncoding)
      throws IOException {
    writePage(bytes, valueCount, 0, pageStatistics, repetition, definition, valuesEncoding);
  }

  // Headers of version 1 have no number of rows.
  @Override
  public void writePage(
      BytesInput bytes,
      int valueCount,
      int rowCount,
      Statistics<?> pageStatistics,
      Encoding repetition,
      Encoding definition,
      Encoding valuesEncoding)
      throws IOException {
    byte[] page = bytes(bytes);
    byte[] compressed = compression.compress(page);
    PageHeader header = header(PageType.DATA_PAGE, page.length, compressed);
    header.setData_page_header(
        new DataPageHeader(
            valueCount, format(valuesEncoding), format(definition), format(repetition)));
    encodings.addAll(List.of(repetition, definition, valuesEncoding));
    append(dataPages, header, compressed);
    count(valueCount, pageStatistics);
  }

  @Override
  public void writePage(
      BytesInput bytes,
      int valueCount,
      int rowCount,
      Statistics<?> pageStatistics,
      SizeStatistics sizes,
      Encoding repetition,
      Encoding definition,
      Encoding valuesEncoding)
      throws IOException {
    writePage(bytes, valueCount, rowCount, pageStatistics, repetition, definition, valuesEncoding);
  }

  @Override
  public void writePageV2(
      int rowCount,
      int nullCount,
      int valueCount,
      BytesInput repetitionLevels,
      BytesInput definitionLevels,
      Encoding dataEncoding,
      BytesInput data,
      Statistics<?> pageStatistics,
      SizeStatistics sizes)
      throws IOException {
    writePageV2(
        rowCount,
        nullCount,
        valueCount,
        repetitionLevels,
        definitionLevels,
        dataEncoding,
        data,
        pageStatistics);
  }

  @Override
  public void writePageV2(
      int rowCount,
      int nullCount,
      int valueCount,
      BytesInput repetitionLevels,
      BytesInput definitionLevels,
      Encoding dataEncoding,
      BytesInput data,
      Statistics<?> pageStatistics)
      throws IOException {
    byte[] repetition = bytes(repetitionLevels);
    byte[] definition = bytes(definitionLevels);
    byte[] page = bytes(data);
    byte[] compressed = compression.compress(page);
    byte[] body =
        bytes(
            BytesInput.concat(
                BytesInput.from(repetition),
                BytesInput.from(definition),
                BytesInput.from(compressed)));
    PageHeader header =
        header(PageType.DATA_PAGE_V2, repetition.length + definition.length + page.length, body);
    header.setData_page_header_v2(
        new DataPageHeaderV2(
            valueCount,
            nullCount,
            rowCount,
            format(dataEncoding),
            definition.length,
            repetition.length));
    encodings.addAll(List.of(Encoding.RLE, dataEncoding));
    append(dataPages, header, body);
    count(valueCount, pageStatistics);
  }

  @Override
  public void writeDictionaryPage(DictionaryPage dictionary) throws IOException {
    byte[] page = bytes(dictionary.getBytes());
    byte[] compressed = compression.compress(page);
    PageHeader header = header(PageType.DICTIONARY_PAGE, page.length, compressed);
    header.setDictionary_page_header(
        new DictionaryPageHeader(dictionary.getDictionarySize(), format(dictionary.getEncoding())));
    encodings.add(dictionary.getEncoding());
    append(dictionaryPage, header, compressed);
  }

  private static byte[] bytes(BytesInput input) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(Math.toIntExact(input.size()));
    input.writeAllTo(bytes);
    return bytes.toByteArray();
  }

  private static PageHeader header(PageType type, int uncompressedBytes, byte[] body) {
    CRC32 checksum = new CRC32();
    checksum.update(body);
    return new PageHeader(type, uncompressedBytes, body.length).setCrc((int) checksum.getValue());
  }

  private void append(ByteArrayOutputStream pages, PageHeader header, byte[] body)
      throws IOException {
    int start = pages.size();
    Util.writePageHeader(header, pages);
    uncompressedBytes += pages.size() - start + header.getUncompressed_page_size();
    pages.write(body);
  }

  private void count(int valueCount, Statistics<?> pageStatistics) {
    values += valueCount;
    statistics.mergeStatistics(pageStatistics);
  }

  private static org.apache.parquet.format.Encoding format(Encoding encoding) {
    return org.apache.parquet.format.Encoding.valueOf(encoding.name());
  }

  /**
   * Writes the pages.
   *
   * @param offset of {@code out} in the file
   * @return what the footer says of them
   */
  ColumnChunk writeTo(OutputStream out, long offset) throws IOException {
    dictionaryPage.writeTo(out);
    dataPages.writeTo(out);
    ColumnMetaData metadata =
        new ColumnMetaData(
            ParquetSchema.physicalType(column.getPrimitiveType()),
            encodings.stream().map(ColumnChunkBuffer::format).toList(),
            List.of(column.getPath()),
            compression.codec(),
            values,
            uncompressedBytes,
            getMemSize(),
            offset + dictionaryPage.size());
    if (dictionaryPage.size() > 0) {
      metadata.setDictionary_page_offset(offset);
    }
    metadata.setStatistics(ParquetStatistics.write(statistics));
    return new ColumnChunk(0).setMeta_data(metadata);
  }
}
