// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.soak;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import java.util.SplittableRandom;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Sends a batch of random rows, and a watermark behind it, for each number from 0 on, which is also
 * the seed of the batch. Batch {@code n} has the time {@code n * millisPerBatch}, and is sent no
 * faster than that. Its keys are random numbers, which grow with the time.
 */
final class SendRandomBatches extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<Long, ColumnBatch> {
  private static final long serialVersionUID = 1L;

  static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          new Field("v", DataType.INT64, false),
          new Field("ts", DataType.timestamp(3), false));

  private final long keys;
  private final long millisOfKeys;
  private final int batchRows;
  private final long millisPerBatch;
  private transient DeviceContext context;
  private transient HostTransfer transfer;

  /**
   * @param keys how many keys a batch chooses from
   * @param millisOfKeys after this time all of the keys are others
   */
  SendRandomBatches(
      StreamOperatorParameters<ColumnBatch> parameters,
      long keys,
      long millisOfKeys,
      int batchRows,
      long millisPerBatch) {
    super(parameters);
    this.keys = keys;
    this.millisOfKeys = millisOfKeys;
    this.batchRows = batchRows;
    this.millisPerBatch = millisPerBatch;
  }

  @Override
  public void open() throws Exception {
    super.open();
    context = DeviceContext.open(this);
    transfer = new HostTransfer(context);
  }

  @Override
  public void processElement(StreamRecord<Long> element) throws InterruptedException {
    Thread.sleep(millisPerBatch);
    long batch = element.getValue();
    long millis = batch * millisPerBatch;
    SplittableRandom random = new SplittableRandom(batch);
    int rows = 1 + random.nextInt(batchRows);
    long firstKey = millis * keys / millisOfKeys;
    try (RowTableBuilder builder = transfer.tableBuilder(SCHEMA)) {
      for (int row = 0; row < rows; row++) {
        append(builder, 0, firstKey + random.nextLong(keys));
        append(builder, 1, random.nextInt());
        append(builder, 2, millis - random.nextInt(100));
      }
      transfer.toDevice(
          builder.finish(rows),
          table -> ColumnBatch.emit(new StreamRecord<>(new ColumnBatch(table)), output));
    }
    output.emitWatermark(new Watermark(millis - 100));
  }

  private static void append(RowTableBuilder builder, int column, long value) {
    ((FixedWidthColumnBuilder) builder.column(column)).appendLong(value);
  }

  @Override
  public void close() throws Exception {
    if (transfer != null) {
      transfer.close();
    }
    if (context != null) {
      context.close();
    }
    super.close();
  }
}
