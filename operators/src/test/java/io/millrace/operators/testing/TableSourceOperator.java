// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import io.millrace.testing.TableBuilder;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Makes one batch, in the memory of the operator's device, for each number of its input. */
public final class TableSourceOperator extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<Long, ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final Rows rows;
  private transient DeviceContext context;

  /** The rows of batch {@code number}. */
  @FunctionalInterface
  public interface Rows extends Serializable {
    List<List<Object>> of(long number);
  }

  private TableSourceOperator(
      StreamOperatorParameters<ColumnBatch> parameters, Schema schema, Rows rows) {
    super(parameters);
    this.schema = schema;
    this.rows = rows;
  }

  /** A stream of one batch for each number. */
  public static SingleOutputStreamOperator<ColumnBatch> batches(
      DataStream<Long> numbers, Schema schema, Rows rows) {
    OperatorFactory<Long, ColumnBatch> factory =
        new OperatorFactory<>(
            TableSourceOperator.class,
            parameters -> new TableSourceOperator(parameters, schema, rows));
    return factory
        .appendTo(numbers, "batches", new ColumnBatchTypeInformation(schema))
        .setParallelism(numbers.getParallelism());
  }

  @Override
  public void open() throws Exception {
    super.open();
    context = DeviceContext.open(this);
  }

  @Override
  public void processElement(StreamRecord<Long> element) {
    List<List<Object>> values = rows.of(element.getValue());
    try (Table host =
        TableBuilder.ofRows(schema, values)
            .buildOnHost(context.hostStream(), context.pinnedResource())) {
      Table table = host.copyTo(context.resource(), context.stream(), context.stream());
      ColumnBatch.emit(element.copy(null).replace(new ColumnBatch(table)), output);
    }
  }

  @Override
  public void close() throws Exception {
    if (context != null) {
      context.close();
    }
    super.close();
  }
}
