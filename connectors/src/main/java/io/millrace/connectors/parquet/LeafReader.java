// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.connectors.parquet.ColumnChunkPages.Page;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.parquet.bytes.ByteBufferInputStream;
import org.apache.parquet.bytes.BytesUtils;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Dictionary;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.ValuesType;
import org.apache.parquet.column.values.ValuesReader;
import org.apache.parquet.column.values.rle.RunLengthBitPackingHybridDecoder;
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
  private final ColumnChunkPages pages;
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
  // The values of the dictionary of a column of bytes.
  private byte[][] dictionaryBytes;

  private byte[] bytes;
  private int start;
  private int length;

  /** Moves to the first value. */
  LeafReader(ColumnDescriptor column, ColumnChunkPages pages) throws IOException {
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
      Page page = pages.next();
      if (page == null) {
        isAtEnd = true;
        return;
      }
      open(page);
    }
    valuesLeft--;
    repetition = repetitions.next();
    definition = definitions.next();
  }

  private void open(Page page) throws IOException {
    valuesLeft = page.values();
    ByteBuffer content = page.content();
    ByteBufferInputStream in = ByteBufferInputStream.wrap(content);
    if (page.isVersion2()) {
      repetitions = levels(column.getMaxRepetitionLevel(), in.sliceStream(page.repetitionBytes()));
      definitions = levels(column.getMaxDefinitionLevel(), in.sliceStream(page.definitionBytes()));
    } else {
      repetitions = levels(page, page.repetitionEncoding(), ValuesType.REPETITION_LEVEL, in);
      definitions = levels(page, page.definitionEncoding(), ValuesType.DEFINITION_LEVEL, in);
    }
    Encoding encoding = page.encoding();
    hasCodes = encoding.usesDictionary();
    plain = null;
    if (encoding == Encoding.PLAIN && isVariableWidth) {
      values = null;
      plain = content.duplicate().order(ByteOrder.LITTLE_ENDIAN);
      plain.position((int) in.position());
      return;
    }
    values =
        hasCodes
            ? encoding.getDictionaryBasedValuesReader(column, ValuesType.VALUES, pages.dictionary())
            : encoding.getValuesReader(column, ValuesType.VALUES);
    values.initFromPage(page.values(), in);
  }

  private static Levels levels(int max, ByteBufferInputStream in) {
    if (max == 0) {
      return ZEROS;
    }
    RunLengthBitPackingHybridDecoder decoder =
        new RunLengthBitPackingHybridDecoder(BytesUtils.getWidthFromMaxInt(max), in);
    return decoder::readInt;
  }

  private Levels levels(Page page, Encoding encoding, ValuesType type, ByteBufferInputStream in)
      throws IOException {
    int max =
        type == ValuesType.REPETITION_LEVEL
            ? column.getMaxRepetitionLevel()
            : column.getMaxDefinitionLevel();
    if (max == 0) {
      return ZEROS;
    }
    ValuesReader reader = encoding.getValuesReader(column, type);
    reader.initFromPage(page.values(), in);
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
      Dictionary dictionary = pages.dictionary();
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
