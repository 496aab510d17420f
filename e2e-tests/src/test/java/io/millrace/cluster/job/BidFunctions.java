// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster.job;

import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;

import io.millrace.connectors.files.sink.EncodedFileSink;
import io.millrace.connectors.nexmark.NexmarkOptions;
import io.millrace.connectors.nexmark.NexmarkStreams;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceOptions;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import java.nio.charset.StandardCharsets;
import java.util.StringJoiner;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;

/**
 * Aggregates generated bids by auction and bidder with functions of a user: {@link PartialTotals}
 * with maps and timers, and {@link LongSum}. Writes each change of a total.
 *
 * <p>Arguments: how many bids, how many a second of all sources together (0: as fast as it goes),
 * the folder to write; then, if it is not that of the cluster, {@code --device=} and the device.
 */
public final class BidFunctions {
  private static final int BATCH_ROWS = 5_000;
  private static final String DEVICE_ARGUMENT = "--device=";

  private BidFunctions() {}

  public static void main(String[] arguments) throws Exception {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    if (arguments.length > 3) {
      Configuration configuration = new Configuration();
      configuration.set(DeviceOptions.DEVICE, arguments[3].substring(DEVICE_ARGUMENT.length()));
      environment.configure(configuration);
    }
    long rate = Long.parseLong(arguments[1]);
    NexmarkOptions options =
        NexmarkOptions.of(Long.parseLong(arguments[0]))
            .withPerSecond(rate == 0 ? NexmarkOptions.UNLIMITED : rate)
            .withBatchRows(BATCH_ROWS);
    ColumnStream bids = ColumnStream.fromBatches(NexmarkStreams.bidBatches(environment, options));
    DataStream<Row> totals =
        bids.transform(
                "count",
                bids.schema(),
                new OperatorFactory<>(CountingOperator.class, CountingOperator::new))
            .uid("count")
            .keyBy("auction")
            .process(new PartialTotals())
            .uid("partial-totals")
            .keyBy("auction", "bidder")
            .aggregate(
                Aggregate.of(new LongSum(), "bids").as("bids"),
                sum("total").as("total"),
                max("highest").as("highest"))
            .uid("totals")
            .toRows();
    totals.map(BidFunctions::line).sinkTo(EncodedFileSink.create(new Path(arguments[2]), ".csv"));
    environment.execute("functions over bids");
  }

  private static byte[] line(Row row) {
    StringJoiner line = new StringJoiner(",", "", "\n").add(row.getKind().name());
    for (int i = 0; i < row.getArity(); i++) {
      line.add(String.valueOf(row.getField(i)));
    }
    return line.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Counts rows, as the main job does, and says which device it runs on. */
  private static final class CountingOperator extends ColumnBatchOperator<ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private final LongCounter rows = new LongCounter();

    CountingOperator(StreamOperatorParameters<ColumnBatch> parameters) {
      super(parameters);
    }

    @Override
    public void open() throws Exception {
      super.open();
      getRuntimeContext().addAccumulator("rows in", rows);
      getRuntimeContext().getLongCounter("device " + deviceContext().device().description());
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
      rows.add(batch.rowCount());
      output.collect(element);
    }
  }
}
