// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.lookup;

import io.millrace.calc.Calc;
import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.state.lookup.LookupReader;
import io.millrace.state.lookup.LookupTable;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Appends the columns of a {@link DimensionTable} to each batch: for each row those of the row with
 * its key, as the table was when it was last read. Has no state; a row that is sent again after a
 * failure may meet a newer table. A batch that does not fit the device is looked up in parts, all
 * in the same table. Opening waits for the first read.
 *
 * <p>The metric group {@code lookup} has the gauges {@code lastRefreshAgeMillis}, the time since
 * the begin of the last read that succeeded, {@code refreshes}, {@code refreshFailures} and {@code
 * dimensionRows}.
 */
@PublicEvolving
public final class LookupOperator extends ColumnBatchOperator<ColumnBatch> {
  private static final long serialVersionUID = 1L;
  private static final String METRICS = "lookup";

  private final LookupPlan plan;
  private transient SharedDimension dimension;
  private transient LookupReader reader;
  private transient Calc matches;
  private transient Calc matchesWithEventTimes;

  private LookupOperator(StreamOperatorParameters<ColumnBatch> parameters, LookupPlan plan) {
    super(parameters);
    this.plan = plan;
  }

  /** A factory of operators whose output has the columns of {@link LookupPlan#outputSchema}. */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(LookupPlan plan) {
    return new OperatorFactory<>(
        LookupOperator.class, parameters -> new LookupOperator(parameters, plan));
  }

  @Override
  public void open() throws Exception {
    super.open();
    DeviceContext context = deviceContext();
    reader = new LookupReader(context.stream(), context.resource());
    if (!plan.isOuter()) {
      matches = plan.matches();
      matchesWithEventTimes = matches.withLastColumn(EventTimeColumn.FIELD);
    }
    dimension = SharedDimension.acquire(this, context.device(), plan.dimension());
    register(getMetricGroup().addGroup(METRICS));
    dimension.awaitFirst();
  }

  private void register(MetricGroup group) {
    SharedDimension shared = dimension;
    group.<Long, Gauge<Long>>gauge("lastRefreshAgeMillis", shared::ageMillis);
    group.<Long, Gauge<Long>>gauge("refreshes", shared::refreshes);
    group.<Long, Gauge<Long>>gauge("refreshFailures", shared::failures);
    group.<Long, Gauge<Long>>gauge("dimensionRows", shared::rowCount);
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    try (SharedDimension.Version version = dimension.current()) {
      deviceContext()
          .retry()
          .withSplitAndRetry(
              batch.tableWithEventTimes(),
              part -> lookUp(part, version.table()),
              result -> ColumnBatch.emit(element.copy(new ColumnBatch(result)), output));
    }
  }

  private Table lookUp(Table part, LookupTable table) {
    DeviceContext context = deviceContext();
    try (Table keys = part.select(plan.keys());
        Column rows = reader.rows(table, keys);
        Table found = table.values(rows, context.stream(), context.resource());
        Table joined = plan.join(part, rows, found)) {
      if (plan.isOuter()) {
        return joined.share();
      }
      return (EventTimeColumn.isIn(joined.schema()) ? matchesWithEventTimes : matches)
          .apply(joined, context.stream(), context.resource());
    }
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(this::closeLookup, super::close);
  }

  private void closeLookup() {
    FirstFailure failure = new FirstFailure();
    if (matches != null) {
      failure.run(deviceContext().stream()::synchronize);
      failure.run(matches::close);
      failure.run(matchesWithEventTimes::close);
    }
    if (reader != null) {
      failure.run(reader::close);
    }
    if (dimension != null) {
      failure.run(dimension::release);
    }
    failure.rethrow();
  }
}
