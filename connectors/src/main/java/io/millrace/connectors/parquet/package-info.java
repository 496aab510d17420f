// SPDX-License-Identifier: Apache-2.0
/**
 * Parquet files as a source and a sink of batches, each row exactly once.
 *
 * <p>{@link io.millrace.connectors.parquet.ParquetFileSink} writes, {@link
 * io.millrace.connectors.parquet.ParquetFileSource} reads. Pages are encoded and decoded by the
 * libraries of Apache Parquet; Flink's file systems read and write the files.
 */
package io.millrace.connectors.parquet;
