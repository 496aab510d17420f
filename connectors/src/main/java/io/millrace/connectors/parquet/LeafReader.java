// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.connectors.parquet.CompressedPages.CompressedPage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.parquet.bytes.ByteBufferInputStream;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.bytes.BytesUtils;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Dictionary;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.ValuesType;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.values.ValuesReader;
import org.apache.parquet.column.values.rle.RunLengthBitPackingHybridDecoder;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DataPageHeaderV2;
import org.apache.parquet.format.DictionaryPageHeader;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/**
 * Reads the values of a column chunk one after the other, with their levels. At a value that is
 * present, call one of the methods that read it once, then {@link #advance}. Used by one thread.
 */
final class LeafReader {
  /** The levels of a page, one after the other. */
  private interface Levels {
    int next() throws IOException;
  }

  private static final Levels ZEROS = () -> 0;

  private final ColumnDescriptor column;
  private final CompressedPages pages;
  private final boolean isVariableWidth;
  private Levels repetitions = ZEROS;
  private Levels definitions = ZEROS;
  // The values of the page; null if they are bytes without any encoding, which are at 'plain'.
  private ValuesReader values;
  private ByteBuffer plain;
  private boolean hasCodes;
  private int valuesLeft;
  private boolean isAtEnd;
  private int repetition;
  private int definition;
  // null before a dictionary page was read.
  private Dictionary dictionary;
  // The values of the dictionary of a column of bytes.
  private byte[][] dictionaryBytes;

  private byte[] bytes;
  private int start;
  private int length;

  /** Moves to the first value. */
  LeafReader(ColumnDescriptor column, CompressedPages pages) throws IOException {
    this.column = column;
    this.pages = pages;
    this.isVariableWidth =
        column.getPrimitiveType().getPrimitiveTypeName() == PrimitiveTypeName.BINARY;
    advance();
  }

  /** Whether there are no more values. */
  boolean isAtEnd() {
    return isAtEnd;
  }

  int repetition() {
    return repetition;
  }

  int definition() throws IOException {
    if (isAtEnd) {
      throw new IOException("the column chunk has fewer values than its row group");
    }
    return definition;
  }

  /** Moves to the next value. */
  void advance() throws IOException {
    while (valuesLeft == 0) {
      CompressedPage page = pages.next();
      if (page == null) {
        isAtEnd = true;
        return;
      }
      PageHeader header = page.header();
      switch (header.getType()) {
        case DATA_PAGE -> open(header.getData_page_header(), pages.decompress(page));
        case DATA_PAGE_V2 -> open(header.getData_page_header_v2(), pages.decompress(page));
        case DICTIONARY_PAGE -> open(header.getDictionary_page_header(), pages.decompress(page));
        case INDEX_PAGE -> {}
      }
    }
    valuesLeft--;
    repetition = repetitions.next();
    definition = definitions.next();
  }

  private void open(DictionaryPageHeader header, byte[] content) throws IOException {
    Encoding encoding = encoding(header.getEncoding());
    DictionaryPage page =
        new DictionaryPage(BytesInput.from(content), header.getNum_values(), encoding);
    dictionary = encoding.initDictionary(column, page);
  }

  private void open(DataPageHeader header, byte[] content) throws IOException {
    valuesLeft = header.getNum_values();
    ByteBufferInputStream in = ByteBufferInputStream.wrap(ByteBuffer.wrap(content));
    repetitions = levels(ValuesType.REPETITION_LEVEL, header.getRepetition_level_encoding(), in);
    definitions = levels(ValuesType.DEFINITION_LEVEL, header.getDefinition_level_encoding(), in);
    openValues(encoding(header.getEncoding()), content, in);
  }

  private void open(DataPageHeaderV2 header, byte[] content) throws IOException {
    valuesLeft = header.getNum_values();
    ByteBufferInputStream in = ByteBufferInputStream.wrap(ByteBuffer.wrap(content));
    repetitions =
        levels(
            column.getMaxRepetitionLevel(),
            in.sliceStream(header.getRepetition_levels_byte_length()));
    definitions =
        levels(
            column.getMaxDefinitionLevel(),
            in.sliceStream(header.getDefinition_levels_byte_length()));
    openValues(encoding(header.getEncoding()), content, in);
  }

  private void openValues(Encoding encoding, byte[] content, ByteBufferInputStream in)
      throws IOException {
    hasCodes = encoding.usesDictionary();
    plain = null;
    if (encoding == Encoding.PLAIN && isVariableWidth) {
      values = null;
      plain = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
      plain.position((int) in.position());
      return;
    }
    values =
        hasCodes
            ? encoding.getDictionaryBasedValuesReader(column, ValuesType.VALUES, dictionary())
            : encoding.getValuesReader(column, ValuesType.VALUES);
    values.initFromPage(valuesLeft, in);
  }

  private Dictionary dictionary() throws IOException {
    if (dictionary == null) {
      throw new IOException("a page refers to a dictionary that is missing");
    }
    return dictionary;
  }

  private static Encoding encoding(org.apache.parquet.format.Encoding encoding) {
    return Encoding.valueOf(encoding.name());
  }

  private static Levels levels(int max, ByteBufferInputStream in) {
    if (max == 0) {
      return ZEROS;
    }
    RunLengthBitPackingHybridDecoder decoder =
        new RunLengthBitPackingHybridDecoder(BytesUtils.getWidthFromMaxInt(max), in);
    return decoder::readInt;
  }

  private Levels levels(
      ValuesType type, org.apache.parquet.format.Encoding encoding, ByteBufferInputStream in)
      throws IOException {
    int max =
        type == ValuesType.REPETITION_LEVEL
            ? column.getMaxRepetitionLevel()
            : column.getMaxDefinitionLevel();
    if (max == 0) {
      return ZEROS;
    }
    ValuesReader reader = encoding(encoding).getValuesReader(column, type);
    reader.initFromPage(valuesLeft, in);
    return reader::readInteger;
  }

  boolean readBoolean() {
    return values.readBoolean();
  }

  int readInt() {
    return values.readInteger();
  }

  long readLong() {
    return values.readLong();
  }

  float readFloat() {
    return values.readFloat();
  }

  double readDouble() {
    return values.readDouble();
  }

  /** Reads a value of bytes: {@link #length} of them in {@link #bytes} from {@link #start} on. */
  void readBytes() throws IOException {
    if (plain != null) {
      length = plain.getInt();
      if (length < 0 || length > plain.remaining()) {
        throw new IOException("a value of " + length + " bytes does not fit its page");
      }
      bytes = plain.array();
      start = plain.arrayOffset() + plain.position();
      plain.position(plain.position() + length);
    } else {
      bytes =
          hasCodes ? dictionaryBytes(values.readValueDictionaryId()) : bytes(values.readBytes());
      start = 0;
      length = bytes.length;
    }
  }

  private static byte[] bytes(Binary value) {
    return value.getBytesUnsafe();
  }

  private byte[] dictionaryBytes(int code) throws IOException {
    if (dictionaryBytes == null) {
      dictionaryBytes = new byte[dictionary.getMaxId() + 1][];
      for (int i = 0; i < dictionaryBytes.length; i++) {
        dictionaryBytes[i] = dictionary.decodeToBinary(i).getBytes();
      }
    }
    return dictionaryBytes[code];
  }

  byte[] bytes() {
    return bytes;
  }

  int start() {
    return start;
  }

  int length() {
    return length;
  }
}
