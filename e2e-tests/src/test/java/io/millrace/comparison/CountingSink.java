// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import io.millrace.operators.context.OperatorFactory;
import java.util.Set;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.DynamicTableSinkFactory;

/** Flink SQL's way to {@link CountRows}, without a conversion of rows: {@value #CONNECTOR}. */
public final class CountingSink implements DynamicTableSinkFactory {
  static final String CONNECTOR = "counting";

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

  private static final class Sink implements DynamicTableSink {
    @Override
    public ChangelogMode getChangelogMode(ChangelogMode requested) {
      return requested;
    }

    @Override
    public SinkRuntimeProvider getSinkRuntimeProvider(DynamicTableSink.Context context) {
      return new DataStreamSinkProvider() {
        @Override
        public DataStreamSink<?> consumeDataStream(
            ProviderContext provider, DataStream<RowData> rows) {
          return rows.transform(
                  "count", Types.VOID, new OperatorFactory<>(CountRows.class, CountRows::new))
              .sinkTo(new DiscardingSink<>());
        }
      };
    }

    @Override
    public DynamicTableSink copy() {
      return new Sink();
    }

    @Override
    public String asSummaryString() {
      return CONNECTOR;
    }
  }
}
