package io.millrace.cluster.job;

import io.millrace.column.Schema;
import io.millrace.connectors.files.FileSinks;
import io.millrace.connectors.formats.CsvEncoder;
import io.millrace.connectors.formats.CsvOptions;
import io.millrace.operators.batch.BatchOptions;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.ColumnBatches;
import io.millrace.operators.exchange.BatchExchange;
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
  /** How many keys there are; the key of a row is its number modulo this. */
  public static final int KEYS = 97;

  /** Long, so that at any time there are rows that wait for their batch to fill. */
  private static final Duration BATCH_LATENCY = Duration.ofMillis(200);

  private static final int BATCH_ROWS = 500;

  private BatchedRows() {}

  public static void main(String[] arguments) throws Exception {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    RowType rowType =
        RowType.of(
            new LogicalType[] {new BigIntType(), new BigIntType(), VarCharType.STRING_TYPE},
            new String[] {"number", "key", "text"});
    Schema schema = SchemaConverter.toSchema(rowType);
    DataStream<RowData> rows =
        environment
            .fromSource(
                source(Long.parseLong(arguments[0]), Double.parseDouble(arguments[1]), rowType),
                WatermarkStrategy.noWatermarks(),
                "rows")
            .uid("rows");
    DataStream<ColumnBatch> batches =
        ColumnBatches.fromRows(
                rows, schema, BatchOptions.latency(BATCH_LATENCY).withRows(1, BATCH_ROWS))
            .uid("batches");
    DataStream<ColumnBatch> byKey = BatchExchange.keyBy(batches, "key").uid("by-key").apply();
    FileSinks.write(byKey, schema, new CsvEncoder(CsvOptions.DEFAULT), new Path(arguments[2]))
        .uid("files");
    environment.execute("batched rows");
  }

  private static DataGeneratorSource<RowData> source(long rows, double rate, RowType rowType) {
    return new DataGeneratorSource<>(
        number -> GenericRowData.of(number, number % KEYS, StringData.fromString("row " + number)),
        rows,
        rate == 0 ? RateLimiterStrategy.noOp() : RateLimiterStrategy.perSecond(rate),
        InternalTypeInfo.of(rowType));
  }
}
