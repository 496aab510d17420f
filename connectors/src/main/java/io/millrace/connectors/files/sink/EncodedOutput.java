// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import java.io.Serializable;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.Path;

/**
 * What operators that encode rows send to a sink: bytes alone, or with the folder of their
 * partition.
 *
 * @param <OUT> the elements
 */
@Internal
public interface EncodedOutput<OUT> extends Serializable {
  /** Bytes for files in one folder. */
  EncodedOutput<byte[]> BYTES = new Bytes();

  /** The output for rows with these keys. */
  static EncodedOutput<?> of(PartitionKeys keys) {
    return keys.isEmpty() ? BYTES : new Partitions(keys);
  }

  /** The columns that choose the folder. */
  PartitionKeys keys();

  /** An element. */
  OUT element(String folder, byte[] bytes);

  /** The type of the elements. */
  TypeInformation<OUT> type();

  /** A sink of the elements; see {@link EncodedFileSink#create}. */
  FileSink<OUT> sink(
      Path folder,
      String suffix,
      BulkWriter.Factory<byte[]> writer,
      EncodedFileCompactor compactor,
      FileSinkOptions options);

  /** Bytes alone. */
  record Bytes() implements EncodedOutput<byte[]> {
    @Override
    public PartitionKeys keys() {
      return PartitionKeys.NONE;
    }

    @Override
    public byte[] element(String folder, byte[] bytes) {
      return bytes;
    }

    @Override
    public TypeInformation<byte[]> type() {
      return PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO;
    }

    @Override
    public FileSink<byte[]> sink(
        Path folder,
        String suffix,
        BulkWriter.Factory<byte[]> writer,
        EncodedFileCompactor compactor,
        FileSinkOptions options) {
      return EncodedFileSink.create(folder, suffix, writer, compactor, options);
    }
  }

  /** Bytes with the folder of their partition. */
  record Partitions(PartitionKeys keys) implements EncodedOutput<EncodedRows> {
    @Override
    public EncodedRows element(String folder, byte[] bytes) {
      return new EncodedRows(folder, bytes);
    }

    @Override
    public TypeInformation<EncodedRows> type() {
      return Types.POJO(EncodedRows.class);
    }

    @Override
    public FileSink<EncodedRows> sink(
        Path folder,
        String suffix,
        BulkWriter.Factory<byte[]> writer,
        EncodedFileCompactor compactor,
        FileSinkOptions options) {
      return PartitionedFileSink.create(folder, suffix, writer, compactor, options);
    }
  }
}
