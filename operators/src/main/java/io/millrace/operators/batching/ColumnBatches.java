// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowAppender;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.wire.ArrowTypeInformation;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.Optional;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;

/** Streams of rows to streams of batches and back. */
@PublicEvolving
public final class ColumnBatches {
  private static final String BATCH = "Batch rows";
  private static final String UNBATCH = "Unbatch rows";
  private static final String BATCH_ARROW = "Batch Arrow";
  private static final String UNBATCH_ARROW = "Unbatch Arrow";

  private ColumnBatches() {}

  /**
   * The rows in batches.
   *
   * @param schema of the rows, as {@link SchemaConverter#toSchema} makes it
   * @throws IllegalArgumentException if the stream's type tells that rows have other types
   */
  public static SingleOutputStreamOperator<ColumnBatch> fromRows(
      DataStream<RowData> rows, Schema schema, BatchOptions options) {
    SchemaConverter.checkRows(rows.getType(), schema);
    return fromRows(rows, schema, RowDataAppender::new, options);
  }

  /**
   * Rows of any kind in batches.
   *
   * @param appenders how a row's fields become columns of {@code schema}
   */
  public static <T> SingleOutputStreamOperator<ColumnBatch> fromRows(
      DataStream<T> rows, Schema schema, RowAppender.Factory<T> appenders, BatchOptions options) {
    return BatchingOperator.factory(schema, appenders, options)
        .appendTo(rows, BATCH, new ColumnBatchTypeInformation(schema));
  }

  /**
   * The rows of the batches, with the timestamps that they came with: the operators that made
   * batches of rows, at the beginning of {@code batches}, keep each row's timestamp. A row has its
   * batch's timestamp if it was never a row before, or if an operator in between makes batches of
   * {@link ColumnBatch#table} instead of {@link ColumnBatch#tableWithEventTimes}.
   *
   * @param batches of a {@link ColumnBatchTypeInformation}
   */
  public static SingleOutputStreamOperator<RowData> toRows(DataStream<ColumnBatch> batches) {
    return toRows(batches, Optional.empty());
  }

  /**
   * The rows of the batches, with the timestamps of a column.
   *
   * @param timeColumn a TIMESTAMP, or a BIGINT of milliseconds since 1970-01-01T00:00Z
   * @throws IllegalArgumentException if there is no such column or it is of another type
   */
  public static SingleOutputStreamOperator<RowData> toRows(
      DataStream<ColumnBatch> batches, String timeColumn) {
    return toRows(batches, Optional.of(timeColumn));
  }

  private static SingleOutputStreamOperator<RowData> toRows(
      DataStream<ColumnBatch> batches, Optional<String> timeColumn) {
    Schema schema = ColumnBatchTypeInformation.schemaOf(batches.getType());
    return toRows(
        batches,
        RowDataDecoder.factory(),
        InternalTypeInfo.of(SchemaConverter.toRowType(schema)),
        timeColumn);
  }

  /**
   * The rows of the batches as rows of any kind.
   *
   * @param decoders how columns become rows
   * @param timeColumn as above; empty for the timestamps that the rows came with
   * @throws IllegalArgumentException if there is no such column or it is of another type
   */
  public static <T> SingleOutputStreamOperator<T> toRows(
      DataStream<ColumnBatch> batches,
      RowDecoder.Factory<T> decoders,
      TypeInformation<T> type,
      Optional<String> timeColumn) {
    Schema schema = ColumnBatchTypeInformation.schemaOf(batches.getType());
    timeColumn.ifPresentOrElse(
        column -> RowTimestamps.check(schema, column),
        () -> EventTimeRequest.send(batches.getTransformation()));
    return UnbatchingOperator.factory(schema, decoders, timeColumn)
        .appendTo(batches, UNBATCH, type)
        .setParallelism(batches.getParallelism());
  }

  /**
   * The batches of Arrow roots, which come through the chain that makes them.
   *
   * @param roots a stream of {@link ArrowTypeInformation}
   * @param schema of all roots
   * @throws IllegalArgumentException if the stream has another type, whose serializer would copy or
   *     send roots
   */
  public static SingleOutputStreamOperator<ColumnBatch> fromArrow(
      DataStream<VectorSchemaRoot> roots, Schema schema) {
    if (!(roots.getType() instanceof ArrowTypeInformation)) {
      throw new IllegalArgumentException(
          "the stream's type is " + roots.getType() + ": give it an ArrowTypeInformation");
    }
    return ArrowBatchingOperator.factory(schema)
        .appendTo(roots, BATCH_ARROW, new ColumnBatchTypeInformation(schema))
        .setParallelism(roots.getParallelism());
  }

  /**
   * The batches as Arrow roots, for operators in the same chain; see {@link ArrowTypeInformation}.
   */
  public static SingleOutputStreamOperator<VectorSchemaRoot> toArrow(
      DataStream<ColumnBatch> batches) {
    return ArrowUnbatchingOperator.factory()
        .appendTo(batches, UNBATCH_ARROW, ArrowTypeInformation.INSTANCE)
        .setParallelism(batches.getParallelism());
  }
}
