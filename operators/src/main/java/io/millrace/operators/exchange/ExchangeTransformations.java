// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.column.Schema;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.transfer.WatermarkMode;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.streaming.api.transformations.UnionTransformation;
import org.apache.flink.streaming.runtime.partitioner.GlobalPartitioner;
import org.apache.flink.streaming.runtime.partitioner.StreamPartitioner;

/**
 * Exchanges for Flink SQL's planner, which builds jobs of transformations: as {@link BatchExchange}
 * otherwise.
 */
@Internal
public final class ExchangeTransformations {
  private ExchangeTransformations() {}

  /**
   * Sends each row to the subtask to which Flink SQL sends rows with these keys. The receivers have
   * the job's default parallelism. If the job's checkpoints are unaligned, each batch that is sent
   * has rows of one key group.
   *
   * @param keys indices of columns of types that {@link HashFunction#FLINK_BINARY_ROW} supports
   * @param watermarks the effect of a watermark on rows that the receiver has not sent yet
   * @param name of the receiving operator
   * @param options of the job
   * @throws IllegalArgumentException if the columns cannot be a key
   */
  public static Transformation<ColumnBatch> byKey(
      Transformation<ColumnBatch> batches,
      List<Integer> keys,
      WatermarkMode watermarks,
      String name,
      ReadableConfig options) {
    checkKeys(ColumnBatchTypeInformation.schemaOf(batches.getOutputType()), keys);
    boolean perKeyGroup =
        options.get(ExchangeOptions.PER_KEY_GROUP)
            || options.get(CheckpointingOptions.ENABLE_UNALIGNED);
    TableSplitter.Factory splitters =
        KeyGroupSplitter.factory(
            keys, HashFunction.FLINK_BINARY_ROW, perKeyGroup, BatchExchange.PART_BYTES);
    Transformation<ColumnBatch> received =
        exchange(
            batches, splitters, new KeyGroupPartitioner(perKeyGroup), watermarks, name, options);
    received.setParallelism(ExecutionConfig.PARALLELISM_DEFAULT);
    return received;
  }

  /**
   * Checks whether columns can be the keys of {@link #byKey}.
   *
   * @throws IllegalArgumentException if they cannot
   */
  public static void checkKeys(Schema schema, List<Integer> keys) {
    BatchExchange.checkKeys(schema, keys.stream().map(key -> schema.field(key).name()).toList());
    for (int key : keys) {
      if (!HashFunction.FLINK_BINARY_ROW.supports(schema.type(key))) {
        throw new IllegalArgumentException(
            "column '" + schema.field(key).name() + "' cannot be a key: " + schema.type(key));
      }
    }
  }

  /**
   * Sends all batches to the only subtask of a receiver.
   *
   * @param watermarks the effect of a watermark on rows that the receiver has not sent yet
   * @param name of the receiving operator
   * @param options of the job
   */
  public static Transformation<ColumnBatch> single(
      Transformation<ColumnBatch> batches,
      WatermarkMode watermarks,
      String name,
      ReadableConfig options) {
    Transformation<ColumnBatch> received =
        exchange(batches, wholeTables(), new GlobalPartitioner<>(), watermarks, name, options);
    received.setParallelism(1);
    received.setMaxParallelism(1);
    return received;
  }

  /**
   * Sends batches of several streams to one stream, with the parallelism of the first one, as
   * Flink's unions have it. A stream of another parallelism loses its order, which changes of a row
   * must not: if these are changelogs of several parallelisms, there is one receiver.
   *
   * @param inputs at least two, with the same columns
   * @param name of the receiving operator
   * @param options of the job
   */
  public static Transformation<ColumnBatch> union(
      List<Transformation<ColumnBatch>> inputs, String name, ReadableConfig options) {
    ColumnBatchTypeInformation type = (ColumnBatchTypeInformation) inputs.get(0).getOutputType();
    List<Transformation<ColumnBatch>> parts = new ArrayList<>();
    for (Transformation<ColumnBatch> input : inputs) {
      parts.add(parts(input, wholeTables(), name, options));
    }
    Transformation<ColumnBatch> received =
        receiver(WatermarkMode.FLUSH)
            .appendTo(new UnionTransformation<>(parts), name, type, options);
    Transformation<ColumnBatch> first = inputs.get(0);
    boolean keepsOrder =
        inputs.stream().allMatch(input -> input.getParallelism() == first.getParallelism());
    if (!keepsOrder && RowKindColumn.isIn(type.schema())) {
      received.setParallelism(1);
      received.setMaxParallelism(1);
    } else {
      received.setParallelism(first.getParallelism(), first.isParallelismConfigured());
    }
    return received;
  }

  private static TableSplitter.Factory wholeTables() {
    return (context, target) ->
        new WholeTableSplitter(context, BatchExchange.PART_BYTES, ColumnBatch::new);
  }

  private static Transformation<ColumnBatch> parts(
      Transformation<ColumnBatch> batches,
      TableSplitter.Factory splitters,
      String name,
      ReadableConfig options) {
    return PartitionOperator.factory(splitters)
        .appendTo(batches, ExchangedStream.partitionName(name), batches.getOutputType(), options);
  }

  private static OperatorFactory<ColumnBatch, ColumnBatch> receiver(WatermarkMode watermarks) {
    return CoalesceOperator.factory(CoalesceOptions.DEFAULT.withWatermarks(watermarks));
  }

  private static Transformation<ColumnBatch> exchange(
      Transformation<ColumnBatch> batches,
      TableSplitter.Factory splitters,
      StreamPartitioner<ColumnBatch> partitioner,
      WatermarkMode watermarks,
      String name,
      ReadableConfig options) {
    Transformation<ColumnBatch> parts = parts(batches, splitters, name, options);
    return receiver(watermarks)
        .appendTo(
            new PartitionTransformation<>(parts, partitioner),
            name,
            batches.getOutputType(),
            options);
  }
}
