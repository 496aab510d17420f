// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql.benchmark;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.sql.table.BatchDynamicTableSink;
import io.millrace.operators.transfer.ColumnBatchOperator;
import java.util.Set;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.DynamicTableSinkFactory;

/** The connector {@value #CONNECTOR}, which takes batches, and drops them. */
public final class DroppedBatches implements DynamicTableSinkFactory {
  static final String CONNECTOR = "dropped-batches";

  @Override
  public String factoryIdentifier() {
    return CONNECTOR;
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of();
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of();
  }

  @Override
  public DynamicTableSink createDynamicTableSink(DynamicTableFactory.Context context) {
    return new Sink();
  }

  private static final class Sink implements BatchDynamicTableSink {
    @Override
    public ChangelogMode getChangelogMode(ChangelogMode requested) {
      return requested;
    }

    @Override
    public SinkRuntimeProvider getSinkRuntimeProvider(DynamicTableSink.Context context) {
      throw new UnsupportedOperationException("this sink takes batches only");
    }

    @Override
    public DataStreamSink<?> consumeBatches(
        ProviderContext context, DataStream<ColumnBatch> batches) {
      return batches
          .transform(
              "drop", Types.VOID, new OperatorFactory<>(DropOperator.class, DropOperator::new))
          .sinkTo(new DiscardingSink<>());
    }

    @Override
    public DynamicTableSink copy() {
      return this;
    }

    @Override
    public String asSummaryString() {
      return CONNECTOR;
    }
  }

  private static final class DropOperator extends ColumnBatchOperator<Void> {
    private static final long serialVersionUID = 1L;

    private DropOperator(StreamOperatorParameters<Void> parameters) {
      super(parameters);
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {}
  }
}
