// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.parquet.column.ParquetProperties.WriterVersion;

/**
 * How Parquet files are written.
 *
 * @param compression of pages
 * @param rowGroupBytes a row group ends behind the batch with which its encoded bytes reach this
 *     number, and at each checkpoint
 * @param pageBytes the size of a page before compression, about
 * @param dictionary whether columns start with a dictionary, until it is too large or does not save
 *     space
 * @param version of the data pages: {@code PARQUET_1_0}, which each reader knows, or {@code
 *     PARQUET_2_0}, with delta encodings
 */
@PublicEvolving
public record ParquetWriterOptions(
    ParquetCompression compression,
    long rowGroupBytes,
    int pageBytes,
    boolean dictionary,
    WriterVersion version)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Zstandard, row groups of 64 MiB, pages of 1 MiB, dictionaries, and pages of version 1. */
  public static final ParquetWriterOptions DEFAULT =
      new ParquetWriterOptions(
          ParquetCompression.ZSTD, 64L << 20, 1 << 20, true, WriterVersion.PARQUET_1_0);

  public ParquetWriterOptions {
    if (rowGroupBytes < 1 || pageBytes < 1) {
      throw new IllegalArgumentException(
          "expected at least 1 byte, got row groups of "
              + rowGroupBytes
              + " and pages of "
              + pageBytes);
    }
  }

  public ParquetWriterOptions withCompression(ParquetCompression newCompression) {
    return new ParquetWriterOptions(newCompression, rowGroupBytes, pageBytes, dictionary, version);
  }

  public ParquetWriterOptions withRowGroupBytes(long bytes) {
    return new ParquetWriterOptions(compression, bytes, pageBytes, dictionary, version);
  }

  public ParquetWriterOptions withPageBytes(int bytes) {
    return new ParquetWriterOptions(compression, rowGroupBytes, bytes, dictionary, version);
  }

  public ParquetWriterOptions withDictionary(boolean newDictionary) {
    return new ParquetWriterOptions(compression, rowGroupBytes, pageBytes, newDictionary, version);
  }

  public ParquetWriterOptions withVersion(WriterVersion newVersion) {
    return new ParquetWriterOptions(compression, rowGroupBytes, pageBytes, dictionary, newVersion);
  }
}
