// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;

/**
 * Streams of generated events. A source deals out row numbers, and an operator chained to it makes
 * the events, which depend on the number alone: a checkpoint holds the next number of each split,
 * and after a failure, or a restore with another rate or other batches, the same events follow.
 * Watermarks run along with the events.
 */
@PublicEvolving
public final class NexmarkStreams {
  private NexmarkStreams() {}

  /** Bids as batches of {@link NexmarkSchemas#BID}, in the memory of the operator's device. */
  public static SingleOutputStreamOperator<ColumnBatch> bidBatches(
      StreamExecutionEnvironment environment, NexmarkOptions options) {
    OperatorFactory<NumberBatch, ColumnBatch> generator =
        new OperatorFactory<>(
            BidGeneratingOperator.class,
            parameters -> new BidGeneratingOperator(parameters, options.configuration()));
    return generator.appendTo(
        numberBatches(environment, options),
        "generate bids",
        new ColumnBatchTypeInformation(NexmarkSchemas.BID));
  }

  /** Bids as rows of {@link NexmarkSchemas#BID}, the same as {@link #bidBatches} has. */
  public static SingleOutputStreamOperator<RowData> bidRows(
      StreamExecutionEnvironment environment, NexmarkOptions options) {
    return rows(
        environment,
        options,
        NexmarkSchemas.BID,
        NexmarkGenerator::eventOfBid,
        (generator, event) -> NexmarkSchemas.row(generator.bid(event)));
  }

  /** All events as rows of {@link NexmarkSchemas#EVENT}. */
  public static SingleOutputStreamOperator<RowData> eventRows(
      StreamExecutionEnvironment environment, NexmarkOptions options) {
    return rows(
        environment, options, NexmarkSchemas.EVENT, event -> event, NexmarkSchemas::eventRow);
  }

  private static SingleOutputStreamOperator<RowData> rows(
      StreamExecutionEnvironment environment,
      NexmarkOptions options,
      Schema schema,
      EventOfNumber eventOfNumber,
      RowFunction function) {
    return numberBatches(environment, options)
        .transform(
            "generate rows",
            InternalTypeInfo.of(SchemaConverter.toRowType(schema)),
            new OperatorFactory<>(
                RowGeneratingOperator.class,
                parameters ->
                    new RowGeneratingOperator(
                        parameters, options.configuration(), eventOfNumber, function)));
  }

  private static SingleOutputStreamOperator<NumberBatch> numberBatches(
      StreamExecutionEnvironment environment, NexmarkOptions options) {
    return environment.fromSource(
        new InterleavedNumberSource(
            options.count(), options.rowsPerBatch(), options.batchesPerSecond()),
        WatermarkStrategy.noWatermarks(),
        "nexmark");
  }

  /** The event that a row's number stands for. */
  @FunctionalInterface
  interface EventOfNumber extends Serializable {
    long apply(long number);
  }

  /** The row of an event. */
  @FunctionalInterface
  interface RowFunction extends Serializable {
    RowData row(NexmarkGenerator generator, long event);
  }
}
