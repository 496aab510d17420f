// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster.job;

import io.millrace.connectors.nexmark.NexmarkOptions;
import io.millrace.connectors.nexmark.NexmarkSchemas;
import io.millrace.connectors.nexmark.NexmarkStreams;
import io.millrace.operators.row.SchemaConverter;
import java.util.Arrays;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.loader.PlannerModule;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;

/**
 * SQL statements over generated bids, the table {@code bid}, whose watermarks are 4 seconds behind.
 *
 * <p>Arguments: how many bids, how many a second of all sources together (0: as fast as it goes),
 * the statements, of which the last starts the job. Options of the session are those of the job.
 */
public final class BidSql {
  private static final InternalTypeInfo<RowData> BID =
      InternalTypeInfo.of(SchemaConverter.toRowType(NexmarkSchemas.BID));

  private BidSql() {}

  public static void main(String[] arguments) throws Exception {
    resetNodeIds();
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    long rate = Long.parseLong(arguments[1]);
    NexmarkOptions options =
        NexmarkOptions.of(Long.parseLong(arguments[0]))
            .withPerSecond(rate == 0 ? NexmarkOptions.UNLIMITED : rate);
    DataStream<RowData> bids =
        NexmarkStreams.bidRows(environment, options)
            .uid("bids")
            .map(new Count())
            .returns(BID)
            .uid("count");
    tables.createTemporaryView("bid", bids, schema());
    Arrays.stream(arguments).skip(2).forEach(tables::executeSql);
  }

  // Uids of SQL jobs have the numbers of their nodes, which Flink counts for each process. This
  // program runs in the JobManager's: so that it has the same numbers each time, as in a process of
  // its own.
  private static void resetNodeIds() throws ReflectiveOperationException {
    Class.forName(
            "org.apache.flink.table.planner.plan.nodes.exec.ExecNodeContext",
            true,
            PlannerModule.getInstance().getSubmoduleClassLoader())
        .getMethod("resetIdCounter")
        .invoke(null);
  }

  private static Schema schema() {
    return Schema.newBuilder()
        .fromRowDataType(BID.getDataType())
        .watermark("date_time", "date_time - INTERVAL '4' SECOND")
        .build();
  }

  /** Counts rows, as the main job does. */
  private static final class Count extends RichMapFunction<RowData, RowData> {
    private static final long serialVersionUID = 1L;

    private final LongCounter rows = new LongCounter();

    @Override
    public void open(OpenContext context) {
      getRuntimeContext().addAccumulator("rows in", rows);
    }

    @Override
    public RowData map(RowData row) {
      rows.add(1L);
      return row;
    }
  }
}
