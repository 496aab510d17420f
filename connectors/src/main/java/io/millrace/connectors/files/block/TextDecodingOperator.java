// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.block;

import io.millrace.column.Table;
import io.millrace.connectors.files.InputException;
import io.millrace.connectors.files.LineFraming;
import io.millrace.connectors.files.LineParsingFunction;
import io.millrace.connectors.files.MalformedLine;
import io.millrace.connectors.files.MalformedLinePolicy;
import io.millrace.connectors.files.TextLine;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.connectors.files.scan.FileScanOptions;
import io.millrace.connectors.files.scan.PartitionColumnAppender;
import io.millrace.connectors.files.scan.PartitionColumns;
import io.millrace.connectors.formats.MalformedLineException;
import io.millrace.connectors.records.EventTimeWatermarks;
import io.millrace.connectors.records.RecordDecodingOperator;
import io.millrace.connectors.records.RecordFormat;
import io.millrace.device.HostMemory;
import io.millrace.format.FieldQuotes;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordFilter;
import io.millrace.memory.Buffer;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Reads blocks of lines into batches on the operator's device, as a {@link RecordFormat} does. A
 * block becomes a batch, or several of about as many lines: no more than asked for, and no more
 * than the operators behind take in 100 ms. Lines that are not rows go to {@link
 * LineParsingFunction#MALFORMED_LINES}, or fail the job.
 *
 * <p>Metrics, in the group {@code millrace.parse}: {@code lines}, {@code malformedLines}.
 */
@PublicEvolving
public final class TextDecodingOperator extends RecordDecodingOperator<TextBlock> {
  private static final long serialVersionUID = 1L;
  private static final double ROOM = 15.0 / 16;

  // The files of a subtask follow each other, so that they have one watermark.
  private static final String FILES = "files";

  private final RecordFormat format;
  private final FieldQuotes quotes;
  private final MalformedLinePolicy policy;
  private final PartitionColumns partitionColumns;
  private final long limit;
  private transient PartitionColumnAppender appender;
  private transient long sentRows;
  // The header of the blocks that are being read.
  private transient byte[] header;
  private transient Counter lineCount;
  private transient Counter malformedLineCount;

  private TextDecodingOperator(
      StreamOperatorParameters<ColumnBatch> parameters,
      RecordFormat format,
      FieldQuotes quotes,
      MalformedLinePolicy policy,
      int maxRows,
      Optional<EventTimeWatermarks> watermarks,
      Optional<RecordFilter> filter,
      PartitionColumns partitionColumns,
      long limit) {
    super(parameters, format, maxRows, watermarks, filter);
    this.format = format;
    this.quotes = quotes;
    this.policy = policy;
    this.partitionColumns = partitionColumns;
    this.limit = limit;
  }

  /**
   * Appends the operator to {@code blocks}.
   *
   * @param lines as the blocks were cut
   * @param maxRows of a batch; at least 1
   * @param watermarks empty if watermarks pass
   * @throws IllegalArgumentException if {@link EventTimeWatermarks#check} says why the columns have
   *     no watermark
   */
  public static SingleOutputStreamOperator<ColumnBatch> decode(
      DataStream<TextBlock> blocks,
      RecordFormat format,
      TextLineOptions lines,
      MalformedLinePolicy policy,
      int maxRows,
      Optional<EventTimeWatermarks> watermarks) {
    return decode(blocks, format, lines, policy, maxRows, watermarks, FileScanOptions.DEFAULT);
  }

  /**
   * As the other method, for what a query reads. Watermarks are those of all rows.
   *
   * @throws IllegalArgumentException also if {@link RecordFormat#unsupported} says why rows cannot
   *     be filtered
   */
  public static SingleOutputStreamOperator<ColumnBatch> decode(
      DataStream<TextBlock> blocks,
      RecordFormat format,
      TextLineOptions lines,
      MalformedLinePolicy policy,
      int maxRows,
      Optional<EventTimeWatermarks> watermarks,
      FileScanOptions scan) {
    scan.filter().ifPresent(format::checkSupported);
    RecordFilter kept = scan.filter().orElse(null);
    PartitionColumns partitionColumns = scan.partitionColumns();
    long limit = scan.limit();
    watermarks.ifPresent(marks -> marks.check(format.schema()));
    EventTimeWatermarks ofColumn = watermarks.orElse(null);
    FieldQuotes quotes =
        lines.framing() == LineFraming.LINE_FEED
            ? null
            : new FieldQuotes(lines.delimiter(), '"', FieldQuotes.NO_CHARACTER);
    OperatorFactory<TextBlock, ColumnBatch> factory =
        new OperatorFactory<>(
            TextDecodingOperator.class,
            parameters ->
                new TextDecodingOperator(
                    parameters,
                    format,
                    quotes,
                    policy,
                    maxRows,
                    Optional.ofNullable(ofColumn),
                    Optional.ofNullable(kept),
                    partitionColumns,
                    limit));
    return factory.appendWithParallelism(
        blocks,
        "decode lines",
        new ColumnBatchTypeInformation(partitionColumns.appendedTo(format.schema())));
  }

  @Override
  public void open() throws Exception {
    super.open();
    MetricGroup group = getMetricGroup().addGroup("millrace").addGroup("parse");
    lineCount = group.counter("lines");
    malformedLineCount = group.counter("malformedLines");
    appender = new PartitionColumnAppender(partitionColumns, deviceContext());
  }

  /**
   * @throws InputException if a file's header does not fit the columns; under {@link
   *     MalformedLinePolicy#FAIL} also for a malformed line, with its position, what is wrong with
   *     it, and its start
   */
  @Override
  public void processElement(StreamRecord<TextBlock> element) throws Exception {
    TextBlock block = element.getValue();
    if (sentRows >= limit) {
      block.limit().end();
      return;
    }
    useHeaderOf(block);
    if (block.truncated()) {
      lineCount.inc();
      String reason = "the line is longer than the " + block.length() + " bytes allowed";
      TextLine line = new TextLine(block.path(), block.offset(), block.bytes(), true);
      report(new MalformedLine(line, reason), element);
      return;
    }
    try (RecordBytes lines = deviceContext().retry().withRetry(() -> lines(block))) {
      int count = lines.count();
      lineCount.inc(count);
      long rows = decode(block, lines, FILES, element);
      sentRows += rows;
      if (sentRows >= limit) {
        block.limit().end();
      }
      // The last line of a block ends behind the limit: one part has room for some lines more.
      block.limit().set((long) (recordLimit(count, rows) * ROOM * block.length() / count));
      block.release();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void useHeaderOf(TextBlock block) throws InputException {
    if (Arrays.equals(block.header(), header)) {
      return;
    }
    try {
      changeFormat(format.withHeader(block.header()));
    } catch (MalformedLineException e) {
      throw new InputException(block.path() + ": " + e.getMessage(), e);
    }
    header = block.header();
  }

  private RecordBytes lines(TextBlock block) {
    int length = block.length();
    try (Buffer text =
        upload(length, address -> HostMemory.copyFromArray(address, block.array(), 0, length))) {
      DeviceContext context = deviceContext();
      return quotes == null
          ? RecordBytes.lines(text, context.stream(), context.resource())
          : RecordBytes.quotedLines(text, quotes, context.stream(), context.resource());
    }
  }

  @Override
  protected Table rows(TextBlock block, int first, ParsedRecords parsed) {
    return appender.append(parsed.table(), block.path());
  }

  @Override
  protected void report(
      TextBlock block, int first, MalformedRecord record, StreamRecord<TextBlock> element)
      throws InputException {
    int end = record.start() + record.length();
    end -= end > record.start() && block.array()[end - 1] == '\n' ? 1 : 0;
    end -= end > record.start() && block.array()[end - 1] == '\r' ? 1 : 0;
    byte[] bytes = Arrays.copyOfRange(block.array(), record.start(), end);
    TextLine line = new TextLine(block.path(), block.offset() + record.start(), bytes, false);
    report(new MalformedLine(line, reason(bytes, record.reason())), element);
  }

  private void report(MalformedLine malformed, StreamRecord<TextBlock> element)
      throws InputException {
    malformedLineCount.inc();
    if (policy == MalformedLinePolicy.FAIL) {
      throw new InputException(malformed.message(), null);
    }
    output.collect(LineParsingFunction.MALFORMED_LINES, element.copy(null).replace(malformed));
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(appender, super::close);
  }
}
