// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.scan;

import io.millrace.format.RecordFilter;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.annotation.Internal;

/**
 * What a query reads of files.
 *
 * @param filter of rows; empty to keep all rows
 * @param partitionColumns columns behind those of the files
 * @param limit how many rows each subtask has to give at least before it stops reading; {@link
 *     Long#MAX_VALUE} to read all. Where the operator that decodes files is not chained to the
 *     source, all files are read to their ends
 */
@Internal
public record FileScanOptions(
    Optional<RecordFilter> filter, PartitionColumns partitionColumns, long limit) {
  /** All rows of the files. */
  public static final FileScanOptions DEFAULT =
      new FileScanOptions(Optional.empty(), PartitionColumns.NONE, Long.MAX_VALUE);

  public FileScanOptions {
    Objects.requireNonNull(filter, "filter is null");
    Objects.requireNonNull(partitionColumns, "partitionColumns are null");
  }

  public FileScanOptions withFilter(Optional<RecordFilter> rows) {
    return new FileScanOptions(rows, partitionColumns, limit);
  }

  public FileScanOptions withPartitionColumns(PartitionColumns columns) {
    return new FileScanOptions(filter, columns, limit);
  }

  public FileScanOptions withLimit(long rows) {
    return new FileScanOptions(filter, partitionColumns, rows);
  }
}
