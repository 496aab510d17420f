package io.millrace.connectors.nexmark;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.ColumnBatchTypeInformation;
import io.millrace.operators.batch.OperatorFactory;
import io.millrace.operators.row.SchemaConverter;
import java.io.Serializable;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;

/**
 * Streams of generated events. A source deals out batch numbers, and an operator chained to it
 * makes the events, which depend on the number alone: a checkpoint holds the next number of each
 * split, and after a failure the same events follow. Watermarks run along with the events.
 */
public final class NexmarkStreams {
  private NexmarkStreams() {}

  /** Bids as batches of {@link NexmarkSchemas#BID}, in the memory of the operator's device. */
  public static SingleOutputStreamOperator<ColumnBatch> bidBatches(
      StreamExecutionEnvironment environment, NexmarkOptions options) {
    return batchNumbers(environment, options)
        .transform(
            "generate bids",
            new ColumnBatchTypeInformation(NexmarkSchemas.BID),
            new OperatorFactory<>(
                GenerateBidBatches.class,
                parameters -> new GenerateBidBatches(parameters, options)));
  }

  /** Bids as rows of {@link NexmarkSchemas#BID}, the same as {@link #bidBatches} has. */
  public static SingleOutputStreamOperator<RowData> bidRows(
      StreamExecutionEnvironment environment, NexmarkOptions options) {
    return rows(
        environment,
        options,
        NexmarkSchemas.BID,
        (generator, bid) -> NexmarkSchemas.row(generator.bid(NexmarkGenerator.eventOfBid(bid))));
  }

  /** All events as rows of {@link NexmarkSchemas#EVENT}. */
  public static SingleOutputStreamOperator<RowData> eventRows(
      StreamExecutionEnvironment environment, NexmarkOptions options) {
    return rows(environment, options, NexmarkSchemas.EVENT, NexmarkSchemas::eventRow);
  }

  private static SingleOutputStreamOperator<RowData> rows(
      StreamExecutionEnvironment environment,
      NexmarkOptions options,
      Schema schema,
      RowFunction function) {
    return batchNumbers(environment, options)
        .transform(
            "generate rows",
            InternalTypeInfo.of(SchemaConverter.toRowType(schema)),
            new OperatorFactory<>(
                GenerateRows.class,
                parameters -> new GenerateRows(parameters, options, schema, function)));
  }

  private static SingleOutputStreamOperator<Long> batchNumbers(
      StreamExecutionEnvironment environment, NexmarkOptions options) {
    return environment.fromSource(
        new InterleavedNumberSource(options.batchCount(), options.batchesPerSecond()),
        WatermarkStrategy.noWatermarks(),
        "nexmark");
  }

  /** The row with a number. */
  @FunctionalInterface
  interface RowFunction extends Serializable {
    RowData row(NexmarkGenerator generator, long number);
  }
}
