// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.files.sink.EncodedFileCompactor;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;

/**
 * Joins Parquet files by their row groups: small ones that follow each other are decoded and
 * encoded again as larger ones, on the host; others are copied, with their statistics.
 */
final class RowGroupCompactor extends EncodedFileCompactor {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final ParquetWriterOptions options;

  /**
   * @param suffix of the files' names
   * @param schema of the batches that the files are written of
   * @param options of row groups that are written again: those that have less than half of {@code
   *     rowGroupBytes}
   */
  RowGroupCompactor(String suffix, Schema schema, ParquetWriterOptions options) {
    super(suffix, file -> new RowGroupFiles(file, ParquetSchema.of(schema)));
    this.schema = schema;
    this.options = options;
  }

  @Override
  protected void join(List<Path> files, Writer<byte[]> joined) throws Exception {
    Merger merger = new Merger(ParquetSchema.of(schema), options, joined);
    super.join(files, merger::add);
    merger.finish();
  }

  /** The row groups of a file, each as a Parquet file in memory. */
  private static final class RowGroupFiles implements Reader<byte[]> {
    private final Path path;
    private final FSDataInputStream input;
    private final List<SchemaElement> columns;
    private final Deque<RowGroup> rowGroups;

    RowGroupFiles(Path path, ParquetSchema schema) throws IOException {
      FileSystem fileSystem = path.getFileSystem();
      this.path = path;
      this.columns = schema.elements();
      this.input = fileSystem.open(path);
      try {
        FileMetaData metadata =
            ParquetFooter.read(path.toString(), input, fileSystem.getFileStatus(path).getLen());
        if (!metadata.getSchema().equals(columns)) {
          Schema found = ParquetSchema.of(metadata.getSchema()).tableSchema();
          throw EncodedFileCompactor.cannotJoin(
              path, "expected the columns " + schema.tableSchema() + ", got " + found);
        }
        this.rowGroups = new ArrayDeque<>(metadata.getRow_groups());
      } catch (IOException | RuntimeException e) {
        input.close();
        throw e;
      }
    }

    @Override
    public byte[] read() throws IOException {
      RowGroup rowGroup = rowGroups.poll();
      return rowGroup == null
          ? null
          : RowGroupFile.readAll(path.toString(), input, columns, rowGroup);
    }

    @Override
    public void close() throws IOException {
      input.close();
    }
  }

  /**
   * Makes large row groups of small ones that follow each other, which it decodes and encodes again
   * on the host; large ones pass as they are. Holds the pages of as many as one large row group
   * has.
   */
  private static final class Merger {
    private final Schema schema;
    private final ParquetWriterOptions options;
    private final Writer<byte[]> out;
    private final List<byte[]> small = new ArrayList<>();
    private long smallBytes;

    /**
     * @param out takes row groups as Parquet files in memory
     */
    Merger(ParquetSchema schema, ParquetWriterOptions options, Writer<byte[]> out) {
      this.schema = schema.tableSchema();
      this.options = options;
      this.out = out;
    }

    /**
     * @param file a row group as a Parquet file in memory
     * @throws IOException naming the file that it is from if it is corrupt
     */
    void add(byte[] file) throws IOException {
      if (file.length >= options.rowGroupBytes() / 2) {
        finish();
        out.write(file);
        return;
      }
      small.add(file);
      smallBytes += file.length;
      if (smallBytes >= options.rowGroupBytes()) {
        finish();
      }
    }

    /** Writes the row groups that are held. */
    void finish() throws IOException {
      if (!small.isEmpty()) {
        out.write(small.size() == 1 ? small.get(0) : merge());
      }
      small.clear();
      smallBytes = 0;
    }

    private byte[] merge() throws IOException {
      RowGroupWriter writer = new RowGroupWriter(schema, options);
      List<Integer> columns = IntStream.range(0, schema.size()).boxed().toList();
      try (DeviceStream stream = HostDevice.INSTANCE.createStream()) {
        for (byte[] file : small) {
          RowGroupDecoder decoder = new RowGroupDecoder(schema, file);
          try (Table table =
                  decoder.decodeByLibrary(schema, columns, stream, HostMemoryResource.INSTANCE);
              AccessScope scope = AccessScope.on(stream)) {
            writer.add(table, scope);
          }
        }
      }
      return writer.finish();
    }
  }
}
