// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import io.millrace.column.Schema;
import io.millrace.connectors.files.sink.EncodingOperator;
import io.millrace.connectors.postgres.copy.CopyBinaryEncoder;
import io.millrace.operators.batch.ColumnBatch;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;

/** Ends a stream in a table of PostgreSQL. */
@PublicEvolving
public final class PostgresSinks {
  private PostgresSinks() {}

  /**
   * Writes batches to a table, whose columns have the names of the stream's. The table is compared
   * with the stream when the job starts, and the job fails with each difference.
   *
   * <p>With key columns a row replaces the row of its key; if the stream has a {@link
   * io.millrace.operators.row.RowKindColumn}, rows of {@code -U} and {@code -D} delete it. The last
   * row of a key counts.
   *
   * @param schema of the batches
   * @throws IllegalArgumentException if PostgreSQL has no form for a type, a key is not a column,
   *     or a changelog is to be written without keys
   */
  public static DataStreamSink<byte[]> write(
      DataStream<ColumnBatch> batches, Schema schema, PostgresSinkOptions options) {
    CopyBinaryEncoder encoder = new CopyBinaryEncoder();
    encoder.fileStart(schema);
    MergeStatements statements = new MergeStatements(options.table(), schema, options.keys());
    Sink<byte[]> sink =
        options.guarantee() == DeliveryGuarantee.EXACTLY_ONCE
            ? new StagingSink(options, schema, statements)
            : new UpsertSink(options, schema, statements);
    return EncodingOperator.encode(batches, encoder)
        .sinkTo(sink)
        .name("PostgreSQL " + options.table());
  }
}
