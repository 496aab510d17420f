// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.Table;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.SendPace;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ScheduledFuture;
import java.util.function.LongConsumer;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.operators.ProcessingTimeService.ProcessingTimeCallback;
import org.apache.flink.runtime.metrics.groups.TaskIOMetricGroup;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.util.PausableRelativeClock;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.IOUtils;

/**
 * The base of operators that read blocks of records into batches on the operator's device, as a
 * {@link RecordFormat} says. A block becomes a batch, or several of about as many records: no more
 * than asked for, and no more than the operators behind take in 100 ms.
 *
 * <p>With {@link EventTimeWatermarks} the operator makes watermarks of a column of the rows, and
 * keeps back those of its input; otherwise watermarks pass.
 *
 * @param <IN> a block of records
 */
@PublicEvolving
public abstract class RecordDecodingOperator<IN> extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<IN, ColumnBatch>, ProcessingTimeCallback {
  /** The accumulator with the number of rows that a filter dropped. */
  public static final String FILTERED_ROWS = "filtered rows";

  private static final long serialVersionUID = 1L;

  private RecordFormat format;
  private final int maxRows;
  private final EventTimeWatermarks watermarks;
  // null if all rows are kept
  private final RecordFilter filter;
  private transient DeviceContext deviceContext;
  private transient RecordReader reader;
  private transient SendPace pace;
  // null without a filter
  private transient LongCounter filteredRows;
  // null without watermarks, as what follows.
  private transient PartitionWatermarks partitions;
  private transient GreatestTime greatestTime;
  private transient PausableRelativeClock clock;
  private transient long watermarkInterval;
  private transient ScheduledFuture<?> timer;

  /**
   * @param maxRows of a batch; at least 1
   * @param watermarks of a column of the format if there is a filter; empty if watermarks pass
   * @param filter for which {@link RecordFormat#unsupported} is empty; empty to keep all rows
   */
  protected RecordDecodingOperator(
      StreamOperatorParameters<ColumnBatch> parameters,
      RecordFormat format,
      int maxRows,
      Optional<EventTimeWatermarks> watermarks,
      Optional<RecordFilter> filter) {
    super(parameters);
    // Rows that are dropped move watermarks.
    this.filter =
        filter
            .map(
                kept ->
                    kept.withUnfiltered(
                        watermarks.map(marks -> List.of(marks.column())).orElse(List.of())))
            .orElse(null);
    this.format = format;
    this.maxRows = maxRows;
    this.watermarks = watermarks.orElse(null);
  }

  @Override
  public void open() throws Exception {
    super.open();
    deviceContext = DeviceContext.open(this);
    output = deviceContext.countRows(this, output);
    if (filter != null) {
      filteredRows = getRuntimeContext().getLongCounter(FILTERED_ROWS);
    }
    reader = createReader();
    pace = deviceContext.sendPace();
    if (watermarks != null) {
      openWatermarks();
    }
  }

  private RecordReader createReader() {
    return format.createReader(deviceContext, Optional.ofNullable(filter));
  }

  /**
   * Reads further records in another format.
   *
   * @param other has the same columns
   */
  protected final void changeFormat(RecordFormat other) {
    format = other;
    RecordReader before = reader;
    reader = createReader();
    before.close();
  }

  private void openWatermarks() {
    greatestTime = new GreatestTime(deviceContext, watermarks.column());
    // A partition whose records wait for the operators behind is not idle.
    clock = new PausableRelativeClock(getProcessingTimeService().getClock());
    ioMetrics().registerBackPressureListener(clock);
    partitions = new PartitionWatermarks(watermarks, new WatermarkEmitter(output), clock);
    watermarkInterval = getExecutionConfig().getAutoWatermarkInterval();
    if (watermarkInterval > 0) {
      registerTimer();
    }
  }

  private TaskIOMetricGroup ioMetrics() {
    return getContainingTask().getEnvironment().getMetricGroup().getIOMetricGroup();
  }

  /** The operator's device, stream, memory and retry, between {@link #open} and {@link #close}. */
  protected final DeviceContext deviceContext() {
    return deviceContext;
  }

  /** The watermarks of the partitions; empty if the operator makes none. */
  protected final Optional<PartitionWatermarks> partitionWatermarks() {
    return Optional.ofNullable(partitions);
  }

  private int rowLimit() {
    return Math.min(maxRows, pace.rowLimit());
  }

  /**
   * How many records the next block should have; at least 1.
   *
   * @param records of the block that was read last; at least 1
   * @param rows that it became
   */
  protected final int recordLimit(int records, long rows) {
    int limit = rowLimit();
    return rows <= records ? limit : (int) Math.max(1, (double) limit * records / rows);
  }

  /** What is wrong with a malformed record, in one sentence. */
  protected final String reason(byte[] record, String reason) {
    return format.reason(record, reason);
  }

  /**
   * Reads records and sends the rows.
   *
   * @param block goes to {@link #report} and {@link #rows}
   * @param records stay the caller's
   * @param partition where the records are from, for watermarks
   * @param element carries {@code block}
   * @return how many rows were sent
   */
  protected final long decode(
      IN block, RecordBytes records, String partition, StreamRecord<IN> element) throws Exception {
    long rows = 0;
    int count = records.count();
    int limit = rowLimit();
    int parts = (count - 1) / limit + 1;
    int part = (count - 1) / parts + 1;
    for (int first = 0; first < count; first += part) {
      deviceContext.checkNotCanceled();
      try (RecordBytes slice = records.slice(first, Math.min(part, count - first))) {
        rows += send(block, first, slice, partition, element);
      }
    }
    return rows;
  }

  private int send(
      IN block, int first, RecordBytes records, String partition, StreamRecord<IN> element)
      throws Exception {
    try (ParsedRecords parsed = deviceContext.retry().withRetry(() -> reader.read(records))) {
      for (MalformedRecord record : parsed.malformed()) {
        deviceContext.checkNotCanceled();
        report(block, first, record, element);
      }
      int rows = parsed.table().rowCount();
      Optional<Table> unfiltered = parsed.unfiltered();
      unfiltered.ifPresent(all -> filteredRows.add(all.rowCount() - rows));
      OptionalLong time = unfiltered.map(this::greatestTime).orElse(OptionalLong.empty());
      if (rows > 0) {
        try (Table table = deviceContext.retry().withRetry(() -> rows(block, first, parsed))) {
          send(table, partition, element, time);
        }
      }
      if (unfiltered.isPresent()) {
        advance(partition, time);
      }
      return rows;
    }
  }

  private void advance(String partition, OptionalLong time) {
    time.ifPresent(greatest -> partitions.advance(partition, greatest));
    if (partitions != null && watermarkInterval == 0) {
      partitions.emit();
    }
  }

  // Records may have more than one row. The time of all rows, with those that were dropped, is
  // known
  // before, and moves the watermark afterwards.
  private void send(Table table, String partition, StreamRecord<IN> element, OptionalLong timeOfAll)
      throws Exception {
    int rows = table.rowCount();
    for (int first = 0; first < rows; ) {
      deviceContext.checkNotCanceled();
      int part = Math.min(rowLimit(), rows - first);
      ColumnBatch batch = new ColumnBatch(part == rows ? table.share() : table.slice(first, part));
      StreamRecord<ColumnBatch> sent = element.copy(null).replace(batch);
      OptionalLong time = filter == null ? greatestTime(batch) : timeOfAll;
      time.ifPresent(sent::setTimestamp);
      pace.send(part, () -> ColumnBatch.emit(sent, output));
      if (filter == null) {
        advance(partition, time);
      }
      first += part;
    }
  }

  // Behind this, the batch is released by whoever sends it.
  private OptionalLong greatestTime(ColumnBatch batch) {
    try {
      return greatestTime(batch.table());
    } catch (RuntimeException | Error e) {
      batch.release();
      throw e;
    }
  }

  private OptionalLong greatestTime(Table rows) {
    return greatestTime == null
        ? OptionalLong.empty()
        : deviceContext.retry().withRetry(() -> greatestTime.of(rows));
  }

  /**
   * Makes one attempt: the rows of a part of a block. By default those that were read.
   *
   * @param first the number of the part's first record in the block
   * @param parsed stays the operator's
   * @return the caller's
   */
  protected Table rows(IN block, int first, ParsedRecords parsed) {
    return parsed.table().share();
  }

  /**
   * Counts a malformed record and sends it on, or fails.
   *
   * @param first the number in the block of the first record of the part that {@code record} counts
   *     from
   */
  protected abstract void report(
      IN block, int first, MalformedRecord record, StreamRecord<IN> element) throws Exception;

  /**
   * Makes one attempt to copy bytes to where the format reads them, the operator's device or pinned
   * memory.
   *
   * @param write writes the bytes at the address it is given
   * @return the caller's
   */
  protected final Buffer upload(long bytes, LongConsumer write) {
    DeviceContext context = deviceContext;
    try (Buffer pinned = Buffer.allocate(bytes, context.hostStream(), context.pinnedResource())) {
      try (AccessScope scope = AccessScope.on(context.hostStream())) {
        write.accept(pinned.access(AccessMode.WRITE, scope));
      }
      return context.device().isHostAccessible() || format.isReadOnHost()
          ? pinned.share()
          : pinned.copyTo(context.resource(), context.uploadStream(), context.uploadStream());
    }
  }

  @Override
  public void processWatermark(Watermark watermark) throws Exception {
    // The last one says that the input has ended.
    if (partitions == null || watermark.getTimestamp() == Long.MAX_VALUE) {
      super.processWatermark(watermark);
    }
  }

  @Override
  public void processWatermarkStatus(WatermarkStatus status) throws Exception {
    if (partitions == null) {
      super.processWatermarkStatus(status);
    }
  }

  @Override
  public void onProcessingTime(long timestamp) {
    partitions.emit();
    registerTimer();
  }

  private void registerTimer() {
    ProcessingTimeService time = getProcessingTimeService();
    timer = time.registerTimer(time.getCurrentProcessingTime() + watermarkInterval, this);
  }

  @Override
  public void finish() throws Exception {
    super.finish();
    if (partitions != null) {
      partitions.emit();
    }
  }

  @Override
  public void close() throws Exception {
    if (timer != null) {
      timer.cancel(false);
    }
    if (clock != null) {
      ioMetrics().unregisterBackPressureListener(clock);
    }
    IOUtils.closeAll(greatestTime, reader, deviceContext, super::close);
  }
}
