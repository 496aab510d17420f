// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster.job;

import io.millrace.column.Schema;
import io.millrace.connectors.files.sink.FileSinks;
import io.millrace.connectors.formats.CsvEncoder;
import io.millrace.connectors.formats.CsvOptions;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.SchemaConverter;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;

/**
 * Numbers rows, batches them, exchanges them by key and writes them to files.
 *
 * <p>Arguments: how many rows, how many a second of all sources together (0: as fast as it goes),
 * the folder to write.
 */
public final class BatchedRows {
  // The key of a row is its number modulo this.
  private static final int KEYS = 97;

  /** Long, so that at any time there are rows that wait for their batch to fill. */
  private static final Duration BATCH_LATENCY = Duration.ofMillis(200);

  private static final int BATCH_ROWS = 500;

  private static final RowType ROW_TYPE =
      RowType.of(
          new LogicalType[] {new BigIntType(), new BigIntType(), VarCharType.STRING_TYPE},
          new String[] {"number", "key", "text"});
  private static final Schema SCHEMA = SchemaConverter.toSchema(ROW_TYPE);

  private BatchedRows() {}

  public static void main(String[] arguments) throws Exception {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    DataStream<ColumnBatch> batches =
        batches(
            environment, arguments, BatchOptions.latency(BATCH_LATENCY).withRows(1, BATCH_ROWS), 1);
    writeByKey(batches, arguments[2]);
    environment.execute("batched rows");
  }

  /**
   * The rows that the first two arguments ask for, in batches.
   *
   * @param repetitions how often the text of a row says the row's number
   */
  static DataStream<ColumnBatch> batches(
      StreamExecutionEnvironment environment,
      String[] arguments,
      BatchOptions options,
      int repetitions) {
    DataStream<RowData> rows =
        environment
            .fromSource(
                source(Long.parseLong(arguments[0]), Double.parseDouble(arguments[1]), repetitions),
                WatermarkStrategy.noWatermarks(),
                "rows")
            .uid("rows");
    return ColumnStream.from(rows, SCHEMA).batch(options).uid("batches").toBatches();
  }

  private static DataGeneratorSource<RowData> source(long rows, double rate, int repetitions) {
    return new DataGeneratorSource<>(
        number ->
            GenericRowData.of(
                number, number % KEYS, StringData.fromString(text(number, repetitions))),
        rows,
        rate == 0 ? RateLimiterStrategy.noOp() : RateLimiterStrategy.perSecond(rate),
        InternalTypeInfo.of(ROW_TYPE));
  }

  private static String text(long number, int repetitions) {
    return ("row " + number).repeat(repetitions);
  }

  /** The line of a row in the files. */
  public static String line(long number, int repetitions) {
    return number + "," + number % KEYS + "," + text(number, repetitions);
  }

  /** Exchanges the batches by key and writes them to the files of {@code folder}. */
  static void writeByKey(DataStream<ColumnBatch> batches, String folder) {
    DataStream<ColumnBatch> byKey =
        ColumnStream.fromBatches(batches).keyBy("key").uid("by-key").toBatches();
    FileSinks.write(byKey, SCHEMA, new CsvEncoder(CsvOptions.DEFAULT), new Path(folder))
        .uid("files");
  }
}
