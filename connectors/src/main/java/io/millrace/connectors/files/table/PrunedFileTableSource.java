// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.table;

import io.millrace.connectors.files.table.FilePartitions.Partition;
import io.millrace.connectors.table.FormatSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsPartitionPushDown;

/** Files in folders of partitions, of which the planner chooses by their keys. */
final class PrunedFileTableSource extends FileTableSource implements SupportsPartitionPushDown {
  PrunedFileTableSource(FileColumns columns, FormatSettings format, ReadableConfig options) {
    super(columns, format, options);
  }

  @Override
  public Optional<List<Map<String, String>>> listPartitions() {
    return Optional.of(partitions().stream().map(Partition::specification).distinct().toList());
  }

  @Override
  public void applyPartitions(List<Map<String, String>> remaining) {
    keepPartitions(Set.copyOf(remaining));
  }

  @Override
  public DynamicTableSource copy() {
    return copyTo(new PrunedFileTableSource(columns, format, options));
  }
}
