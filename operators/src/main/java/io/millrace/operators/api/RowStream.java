// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.batching.BatchingOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * Rows that are to be batched; see {@link ColumnStream#from}.
 *
 * @param <T> the kind of row
 */
@PublicEvolving
public final class RowStream<T> {
  private final DataStream<T> rows;
  private final Schema schema;
  private final RowFormat<T> form;

  RowStream(DataStream<T> rows, Schema schema) {
    this.rows = rows;
    this.schema = schema;
    this.form = RowFormat.of(rows.getType(), schema);
  }

  /** Collects the rows into batches with {@link BatchOptions#DEFAULT}. */
  public ColumnStream batch() {
    return batch(BatchOptions.DEFAULT);
  }

  /** Collects the rows into batches; {@code options} say when a batch is sent. */
  public ColumnStream batch(BatchOptions options) {
    return new ColumnStream(
        StreamPlan.of(
            BatchingOperator.factory(schema, form.appenders(), options)
                .appendTo(rows, "Batch rows", new ColumnBatchTypeInformation(schema)),
            ExpressionSettings.DEFAULT,
            ExplainNode.batching("Batch " + form.name())));
  }
}
