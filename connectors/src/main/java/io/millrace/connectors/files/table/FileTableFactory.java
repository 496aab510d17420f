// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.table;

import io.millrace.connectors.table.FormatSettings;
import io.millrace.connectors.table.TableColumns;
import io.millrace.connectors.table.TableFormat;
import io.millrace.connectors.table.TableOptions;
import java.util.List;
import java.util.Set;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.connector.file.table.FileSystemConnectorOptions;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;

/**
 * The connector {@code millrace-filesystem}: files as tables that give and take batches, with the
 * options of Flink's connector {@code filesystem}. A source reads the files that are there when the
 * job starts, in the folders that there were when the query was planned.
 */
@PublicEvolving
public final class FileTableFactory implements DynamicTableSourceFactory, DynamicTableSinkFactory {
  /** The name of the connector. */
  public static final String IDENTIFIER = "millrace-filesystem";

  private static final List<TableFormat> FORMATS =
      List.of(
          TableFormat.JSON,
          TableFormat.CSV,
          TableFormat.RAW,
          TableFormat.PARQUET,
          TableFormat.ARROW);

  @Override
  public String factoryIdentifier() {
    return IDENTIFIER;
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(FileSystemConnectorOptions.PATH, FactoryUtil.FORMAT);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of(
        FactoryUtil.SOURCE_PARALLELISM,
        FileSystemConnectorOptions.PARTITION_DEFAULT_NAME,
        FileSystemConnectorOptions.SINK_ROLLING_POLICY_FILE_SIZE,
        FileSystemConnectorOptions.SINK_ROLLING_POLICY_ROLLOVER_INTERVAL,
        FileSystemConnectorOptions.SINK_ROLLING_POLICY_INACTIVITY_INTERVAL,
        FileSystemConnectorOptions.AUTO_COMPACTION,
        FileSystemConnectorOptions.COMPACTION_FILE_SIZE,
        FileSystemConnectorOptions.SINK_PARALLELISM);
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    TableOptions options = new TableOptions(this, context);
    FormatSettings format = format(options);
    options.validate();
    return FileTableSource.of(columns(context, options), format, options.options());
  }

  @Override
  public DynamicTableSink createDynamicTableSink(Context context) {
    TableOptions options = new TableOptions(this, context);
    FormatSettings format = format(options);
    options.validate();
    return FileTableSink.of(
        context.getObjectIdentifier(),
        columns(context, options),
        format,
        options.options(),
        context.getConfiguration());
  }

  private static FormatSettings format(TableOptions options) {
    return options
        .format(FactoryUtil.FORMAT, FORMATS)
        .orElseThrow(() -> new ValidationException("'format' is required"));
  }

  private static FileColumns columns(Context context, TableOptions options) {
    return FileColumns.of(
        TableColumns.physical(context),
        context.getCatalogTable().getPartitionKeys(),
        options.options().get(FileSystemConnectorOptions.PARTITION_DEFAULT_NAME));
  }
}
