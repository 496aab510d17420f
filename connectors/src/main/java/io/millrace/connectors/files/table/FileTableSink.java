// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.table;

import io.millrace.column.Schema;
import io.millrace.connectors.files.sink.FileCompaction;
import io.millrace.connectors.files.sink.FileRollingPolicy;
import io.millrace.connectors.files.sink.FileSinkOptions;
import io.millrace.connectors.files.sink.FileSinks;
import io.millrace.connectors.formats.ArrowStreamEncoder;
import io.millrace.connectors.formats.CsvEncoder;
import io.millrace.connectors.formats.CsvOptions;
import io.millrace.connectors.formats.JsonLinesEncoder;
import io.millrace.connectors.formats.RecordEncoder;
import io.millrace.connectors.parquet.ParquetFileSink;
import io.millrace.connectors.parquet.ParquetWriterOptions;
import io.millrace.connectors.table.FormatOptions;
import io.millrace.connectors.table.FormatSettings;
import io.millrace.format.TimestampFormat;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.BatchDynamicTableSink;
import io.millrace.operators.sql.table.RowProviders;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.connector.file.table.FileSystemConnectorOptions;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.abilities.SupportsPartitioning;

/**
 * A folder that files are written to. Values of a static partition come in the rows.
 *
 * @param options of the table
 * @param session the options of the session
 */
record FileTableSink(
    ObjectIdentifier table,
    FileColumns columns,
    FormatSettings format,
    ReadableConfig options,
    ReadableConfig session)
    implements BatchDynamicTableSink, SupportsPartitioning {
  /**
   * A sink.
   *
   * @throws ValidationException if the format is not written, or not with these columns
   */
  static FileTableSink of(
      ObjectIdentifier table,
      FileColumns columns,
      FormatSettings format,
      ReadableConfig options,
      ReadableConfig session) {
    FileTableSink sink = new FileTableSink(table, columns, format, options, session);
    format.checkWriting("");
    switch (format.format()) {
      case JSON, CSV -> sink.checkSupported();
      case PARQUET, ARROW -> {}
      default ->
          throw new ValidationException(
              "'%s' does not write the format '%s'".formatted(FileTableFactory.IDENTIFIER, format));
    }
    return sink;
  }

  private void checkSupported() {
    try {
      recordEncoder().checkSupported(columns.inFiles());
    } catch (IllegalArgumentException e) {
      throw new ValidationException(e.getMessage(), e);
    }
  }

  @Override
  public ChangelogMode getChangelogMode(ChangelogMode requested) {
    return ChangelogMode.insertOnly();
  }

  @Override
  public void applyStaticPartition(Map<String, String> partition) {}

  @Override
  public Optional<Integer> parallelism() {
    return options.getOptional(FileSystemConnectorOptions.SINK_PARALLELISM);
  }

  @Override
  public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
    return RowProviders.sink(this, columns.declared(), session);
  }

  @Override
  public DataStreamSink<?> consumeBatches(
      ProviderContext context, DataStream<ColumnBatch> batches) {
    Path folder = new Path(options.get(FileSystemConnectorOptions.PATH));
    Schema schema = columns.declared();
    DataStreamSink<?> sink =
        switch (format.format()) {
          case PARQUET ->
              ParquetFileSink.write(batches, schema, folder, parquetOptions(), fileOptions());
          case ARROW ->
              FileSinks.write(batches, schema, new ArrowStreamEncoder(), folder, fileOptions());
          default -> FileSinks.write(batches, schema, recordEncoder(), folder, fileOptions());
        };
    // Compaction has operators with state, whose uids Flink makes of the sink's.
    Optional<String> uid = context.generateUid("sink");
    if (options.get(FileSystemConnectorOptions.AUTO_COMPACTION)) {
      uid = uid.or(() -> Optional.of(table.asSummaryString()));
    }
    uid.ifPresent(sink::uid);
    return sink.name(asSummaryString())
        .setParallelism(parallelism().orElse(batches.getParallelism()));
  }

  private RecordEncoder recordEncoder() {
    return switch (format.format()) {
      case CSV ->
          new CsvEncoder(
              CsvOptions.DEFAULT.withDelimiter(format.quotes().delimiter()), TimestampFormat.SQL);
      default -> new JsonLinesEncoder(format.timestamps());
    };
  }

  private ParquetWriterOptions parquetOptions() {
    return ParquetWriterOptions.DEFAULT
        .withCompression(format.options().get(FormatOptions.COMPRESSION))
        .withRowGroupBytes(format.options().get(FormatOptions.ROW_GROUP_BYTES).getBytes());
  }

  private FileSinkOptions fileOptions() {
    MemorySize size = options.get(FileSystemConnectorOptions.SINK_ROLLING_POLICY_FILE_SIZE);
    FileSinkOptions files =
        FileSinkOptions.DEFAULT
            .withRolling(
                FileRollingPolicy.ON_CHECKPOINT
                    .withMaxBytes(size.getBytes())
                    .withMaxAge(
                        options.get(
                            FileSystemConnectorOptions.SINK_ROLLING_POLICY_ROLLOVER_INTERVAL))
                    .withMaxIdleTime(
                        options.get(
                            FileSystemConnectorOptions.SINK_ROLLING_POLICY_INACTIVITY_INTERVAL)))
            .withPartitionKeys(columns.partitionKeys());
    if (!options.get(FileSystemConnectorOptions.AUTO_COMPACTION)) {
      return files;
    }
    MemorySize compacted =
        options.getOptional(FileSystemConnectorOptions.COMPACTION_FILE_SIZE).orElse(size);
    return files.withCompaction(FileCompaction.ofFileBytes(compacted.getBytes()));
  }

  @Override
  public DynamicTableSink copy() {
    return this;
  }

  @Override
  public String asSummaryString() {
    return "files in " + options.get(FileSystemConnectorOptions.PATH);
  }
}
