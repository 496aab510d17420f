// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.KeyValue;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;

/**
 * Copies a row group of a file, or columns of it, to memory, as a Parquet file of its own, which
 * knows the path that it is from.
 */
final class RowGroupFile {
  private static final String PATH_KEY = "millrace.path";
  // Room for the footer.
  private static final int MAX_BYTES = Integer.MAX_VALUE - (64 << 20);

  private RowGroupFile() {}

  /**
   * Reads the chunks of {@code columns}, and no other bytes.
   *
   * @param schema of the columns alone
   * @throws IOException naming the file and the column if the chunk cannot be read
   */
  static byte[] read(
      String path,
      FSDataInputStream file,
      RowGroup rowGroup,
      ParquetSchema schema,
      List<ParquetColumn> columns)
      throws IOException {
    List<ColumnMetaData> sources = new ArrayList<>();
    for (ParquetColumn leaf : columns.stream().flatMap(ParquetColumn::leaves).toList()) {
      sources.add(chunk(path, rowGroup, leaf));
    }
    long bytes = sources.stream().mapToLong(ColumnMetaData::getTotal_compressed_size).sum();
    if (sources.stream().anyMatch(source -> source.getTotal_compressed_size() < 0)) {
      throw new IOException(path + " is corrupt: a column chunk has less than 0 bytes");
    }
    if (bytes > MAX_BYTES) {
      throw new IOException(
          path + ": a row group has " + bytes + " bytes of these columns; select fewer");
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream((int) bytes + (1 << 16));
    out.write(ParquetFooter.magic());
    List<ColumnChunk> chunks = new ArrayList<>();
    for (ColumnMetaData source : sources) {
      ColumnMetaData copy = source.deepCopy();
      copy.unsetStatistics();
      ParquetFooter.move(copy, out.size() - ParquetFooter.offset(source));
      chunks.add(new ColumnChunk(0).setMeta_data(copy));
      file.seek(ParquetFooter.offset(source));
      byte[] content = file.readNBytes((int) source.getTotal_compressed_size());
      if (content.length < source.getTotal_compressed_size()) {
        throw new IOException(
            path + " is cut short: column '" + name(source) + "' ends behind the file");
      }
      out.write(content);
    }
    RowGroup copied = new RowGroup(chunks, bytes, rowGroup.getNum_rows());
    ParquetFooter.write(out, schema.elements(), List.of(copied), List.of(path(path)));
    return out.toByteArray();
  }

  /**
   * Reads a whole row group of a file that {@link ParquetFileSink} wrote, with its statistics.
   *
   * @param schema of the file
   * @param rowGroup whose offsets this method changes
   * @throws IOException naming the file if it is cut short
   */
  static byte[] readAll(
      String path, FSDataInputStream file, List<SchemaElement> schema, RowGroup rowGroup)
      throws IOException {
    long start = ParquetFooter.offset(rowGroup);
    int bytes = Math.toIntExact(rowGroup.getTotal_compressed_size());
    file.seek(start);
    byte[] pages = file.readNBytes(bytes);
    if (pages.length < bytes) {
      throw new IOException(path + " is cut short: a row group ends behind the file");
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream(bytes + (1 << 16));
    out.write(ParquetFooter.magic());
    out.write(pages);
    ParquetFooter.move(rowGroup, ParquetFooter.MAGIC_BYTES - start);
    ParquetFooter.write(out, schema, List.of(rowGroup), List.of(path(path)));
    return out.toByteArray();
  }

  private static KeyValue path(String path) {
    return new KeyValue(PATH_KEY).setValue(path);
  }

  private static ColumnMetaData chunk(String path, RowGroup rowGroup, ParquetColumn leaf)
      throws IOException {
    for (ColumnChunk chunk : rowGroup.getColumns()) {
      ColumnMetaData metadata = chunk.getMeta_data();
      if (metadata == null || chunk.isSetCrypto_metadata()) {
        throw new IOException(path + " has encrypted columns, which is not supported");
      }
      if (!metadata.getPath_in_schema().equals(leaf.path())) {
        continue;
      }
      if (chunk.isSetFile_path()) {
        throw new IOException(
            path
                + ": column '"
                + name(metadata)
                + "' is in another file, "
                + chunk.getFile_path()
                + ", which is not supported");
      }
      if (!ParquetCompression.canDecompress(metadata.getCodec())) {
        throw new IOException(
            path
                + ": column '"
                + name(metadata)
                + "' is compressed by "
                + metadata.getCodec()
                + ", which is not supported");
      }
      return metadata;
    }
    throw new IOException(
        path + " is corrupt: a row group has no column '" + String.join(".", leaf.path()) + "'");
  }

  private static String name(ColumnMetaData chunk) {
    return String.join(".", chunk.getPath_in_schema());
  }

  /** The path of the file that a file in memory was made of. */
  static String path(FileMetaData metadata) {
    List<KeyValue> texts =
        metadata.isSetKey_value_metadata() ? metadata.getKey_value_metadata() : List.of();
    return texts.stream()
        .filter(pair -> pair.getKey().equals(PATH_KEY))
        .map(KeyValue::getValue)
        .findFirst()
        .orElse("a file in memory");
  }
}
