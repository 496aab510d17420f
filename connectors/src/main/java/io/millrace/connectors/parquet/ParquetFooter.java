// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.ColumnOrder;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.KeyValue;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.TypeDefinedOrder;
import org.apache.parquet.format.Util;

/** The start and the end of Parquet files. */
final class ParquetFooter {
  /** Bytes of {@link #magic}. */
  static final int MAGIC_BYTES = 4;

  private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] ENCRYPTED_MAGIC = "PARE".getBytes(StandardCharsets.US_ASCII);
  private static final int TAIL_BYTES = Integer.BYTES + MAGIC_BYTES;
  private static final int VERSION = 1;

  private ParquetFooter() {}

  /** What a file starts and ends with. */
  static byte[] magic() {
    return MAGIC.clone();
  }

  /** Ends a file whose row groups are written. */
  static void write(OutputStream out, List<SchemaElement> schema, List<RowGroup> rowGroups)
      throws IOException {
    write(out, schema, rowGroups, List.of());
  }

  /** As {@link #write(OutputStream, List, List)}, with texts of the writer. */
  static void write(
      OutputStream out, List<SchemaElement> schema, List<RowGroup> rowGroups, List<KeyValue> texts)
      throws IOException {
    long rows = rowGroups.stream().mapToLong(RowGroup::getNum_rows).sum();
    long leaves = schema.stream().filter(SchemaElement::isSetType).count();
    FileMetaData metadata = new FileMetaData(VERSION, schema, rows, rowGroups);
    metadata.setCreated_by("millrace");
    metadata.setKey_value_metadata(texts);
    metadata.setColumn_orders(
        Collections.nCopies((int) leaves, ColumnOrder.TYPE_ORDER(new TypeDefinedOrder())));
    ByteArrayOutputStream footer = new ByteArrayOutputStream();
    Util.writeFileMetaData(metadata, footer);
    footer.writeTo(out);
    out.write(
        ByteBuffer.allocate(Integer.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(footer.size())
            .array());
    out.write(MAGIC);
  }

  /**
   * Reads the footer of a file.
   *
   * @param path for messages
   * @throws IOException naming the file if it cannot be read or is not a Parquet file
   */
  static FileMetaData read(String path, FSDataInputStream file, long fileBytes) throws IOException {
    if (fileBytes < MAGIC_BYTES + TAIL_BYTES) {
      throw new IOException(path + " is not a Parquet file: it has " + fileBytes + " bytes");
    }
    file.seek(fileBytes - TAIL_BYTES);
    int footerBytes = footerBytes(path, file.readNBytes(TAIL_BYTES), fileBytes);
    file.seek(fileBytes - TAIL_BYTES - footerBytes);
    return decode(path, file.readNBytes(footerBytes), 0, footerBytes);
  }

  /** Reads the footer of a file in memory, as {@link #read(String, FSDataInputStream, long)}. */
  static FileMetaData read(String path, byte[] file) throws IOException {
    byte[] tail = Arrays.copyOfRange(file, Math.max(0, file.length - TAIL_BYTES), file.length);
    int footerBytes = footerBytes(path, tail, file.length);
    return decode(path, file, file.length - TAIL_BYTES - footerBytes, footerBytes);
  }

  private static int footerBytes(String path, byte[] tail, long fileBytes) throws IOException {
    byte[] magic = Arrays.copyOfRange(tail, Math.max(0, tail.length - MAGIC_BYTES), tail.length);
    if (Arrays.equals(magic, ENCRYPTED_MAGIC)) {
      throw new IOException(path + " is encrypted, which is not supported");
    }
    if (tail.length < TAIL_BYTES || !Arrays.equals(magic, MAGIC)) {
      throw new IOException(path + " is not a Parquet file: it does not end with PAR1");
    }
    int bytes = ByteBuffer.wrap(tail).order(ByteOrder.LITTLE_ENDIAN).getInt();
    if (bytes < 0 || bytes > fileBytes - TAIL_BYTES - MAGIC_BYTES) {
      throw new IOException(path + " is corrupt: its footer has " + bytes + " bytes");
    }
    return bytes;
  }

  private static FileMetaData decode(String path, byte[] bytes, int start, int length)
      throws IOException {
    try {
      return Util.readFileMetaData(new ByteArrayInputStream(bytes, start, length));
    } catch (IOException | RuntimeException e) {
      throw new IOException(path + " is corrupt: its footer cannot be read", e);
    }
  }

  /** The offset of a row group's first page. */
  static long offset(RowGroup rowGroup) {
    return rowGroup.getColumns().stream()
        .mapToLong(chunk -> offset(chunk.getMeta_data()))
        .min()
        .orElse(0);
  }

  /** The offset of a column chunk's first page. Some writers set a dictionary's offset to 0. */
  static long offset(ColumnMetaData chunk) {
    return chunk.isSetDictionary_page_offset() && chunk.getDictionary_page_offset() > 0
        ? Math.min(chunk.getDictionary_page_offset(), chunk.getData_page_offset())
        : chunk.getData_page_offset();
  }

  /** Adds {@code bytes} to the offsets of a row group's pages. */
  static void move(RowGroup rowGroup, long bytes) {
    for (ColumnChunk chunk : rowGroup.getColumns()) {
      move(chunk.getMeta_data(), bytes);
    }
    rowGroup.setFile_offset(offset(rowGroup));
  }

  /** Adds {@code bytes} to the offsets of a column chunk's pages. */
  static void move(ColumnMetaData chunk, long bytes) {
    chunk.setData_page_offset(chunk.getData_page_offset() + bytes);
    if (chunk.isSetDictionary_page_offset() && chunk.getDictionary_page_offset() > 0) {
      chunk.setDictionary_page_offset(chunk.getDictionary_page_offset() + bytes);
    } else {
      chunk.unsetDictionary_page_offset();
    }
  }
}
