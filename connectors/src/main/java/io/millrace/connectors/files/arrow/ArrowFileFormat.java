// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.arrow;

import io.millrace.column.Schema;
import io.millrace.connectors.files.message.MessageRows;
import io.millrace.connectors.files.message.MessageRowsSerializer;
import io.millrace.connectors.files.scan.ScanEnd;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.core.fs.Path;

/**
 * Reads files that are Arrow IPC streams as record batch messages, which {@link
 * ArrowMessageDecoder} turns into batches. A checkpoint holds the offset of the next message, or of
 * the one that is being read and how many of its rows were.
 */
final class ArrowFileFormat implements BulkFormat<MessageRows, FileSourceSplit> {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final ScanEnd scanEnd = new ScanEnd();

  ArrowFileFormat(Schema schema) {
    this.schema = schema;
  }

  @Override
  public BulkFormat.Reader<MessageRows> createReader(Configuration config, FileSourceSplit split)
      throws IOException {
    if (scanEnd.isReached()) {
      return ScanEnd.emptyReader();
    }
    ArrowMessageReader reader = open(split.path(), scanEnd);
    try {
      Schema found = reader.readSchema();
      if (!found.equals(schema)) {
        throw new IOException(split.path() + " has the columns " + found + ", not " + schema);
      }
      if (split.getReaderPosition().isPresent()) {
        reader.seek(split.getReaderPosition().get());
      }
      return reader;
    } catch (IOException | RuntimeException e) {
      reader.close();
      throw e;
    }
  }

  /** A reader of one file alone. */
  static ArrowMessageReader open(Path path) throws IOException {
    return open(path, new ScanEnd());
  }

  private static ArrowMessageReader open(Path path, ScanEnd scanEnd) throws IOException {
    return new ArrowMessageReader(path.toString(), path.getFileSystem().open(path), scanEnd);
  }

  @Override
  public BulkFormat.Reader<MessageRows> restoreReader(Configuration config, FileSourceSplit split)
      throws IOException {
    return createReader(config, split);
  }

  @Override
  public boolean isSplittable() {
    return false;
  }

  @Override
  public TypeInformation<MessageRows> getProducedType() {
    return MessageRowsSerializer.typeInformation();
  }
}
