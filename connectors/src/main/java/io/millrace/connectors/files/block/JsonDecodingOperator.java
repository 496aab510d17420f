// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.block;

import io.millrace.column.Schema;
import io.millrace.connectors.files.InputException;
import io.millrace.connectors.files.LineParsingFunction;
import io.millrace.connectors.files.MalformedLine;
import io.millrace.connectors.files.MalformedLinePolicy;
import io.millrace.connectors.files.TextLine;
import io.millrace.connectors.formats.JsonLineParser;
import io.millrace.connectors.formats.MalformedLineException;
import io.millrace.device.HostMemory;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.json.JsonReader;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.context.SendPace;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.Arrays;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Reads blocks of JSON lines into batches on the operator's device, as {@link JsonReader} does. A
 * block becomes a batch, or several of about as many lines: no more than asked for, and no more
 * than the operators behind take in 100 ms. Lines that are not rows go to {@link
 * LineParsingFunction#MALFORMED_LINES}, or fail the job.
 *
 * <p>Metrics, in the group {@code millrace.parse}: {@code lines}, {@code malformedLines}.
 */
@PublicEvolving
public final class JsonDecodingOperator extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<TextBlock, ColumnBatch> {
  private static final long serialVersionUID = 1L;
  private static final double ROOM = 15.0 / 16;

  private final Schema schema;
  private final MalformedLinePolicy policy;
  private final int maxRows;
  private transient DeviceContext deviceContext;
  private transient JsonReader reader;
  private transient JsonLineParser describer;
  private transient SendPace pace;
  private transient Counter lineCount;
  private transient Counter malformedLineCount;

  private JsonDecodingOperator(
      StreamOperatorParameters<ColumnBatch> parameters,
      Schema schema,
      MalformedLinePolicy policy,
      int maxRows) {
    super(parameters);
    this.schema = schema;
    this.policy = policy;
    this.maxRows = maxRows;
  }

  /**
   * Appends the operator to {@code blocks}.
   *
   * @param maxRows of a batch; at least 1
   * @throws IllegalArgumentException if {@link JsonReader#unsupported} says why the columns cannot
   *     be read
   */
  public static SingleOutputStreamOperator<ColumnBatch> decode(
      DataStream<TextBlock> blocks, Schema schema, MalformedLinePolicy policy, int maxRows) {
    JsonReader.checkSupported(schema);
    OperatorFactory<TextBlock, ColumnBatch> factory =
        new OperatorFactory<>(
            JsonDecodingOperator.class,
            parameters -> new JsonDecodingOperator(parameters, schema, policy, maxRows));
    return factory.appendTo(blocks, "decode JSON", new ColumnBatchTypeInformation(schema));
  }

  @Override
  public void open() throws Exception {
    super.open();
    deviceContext = DeviceContext.open(this);
    output = deviceContext.countRows(this, output);
    reader = new JsonReader(schema, deviceContext.stream(), deviceContext.resource());
    describer = new JsonLineParser(schema);
    pace = deviceContext.sendPace();
    MetricGroup group = getMetricGroup().addGroup("millrace").addGroup("parse");
    lineCount = group.counter("lines");
    malformedLineCount = group.counter("malformedLines");
  }

  /**
   * @throws InputException under {@link MalformedLinePolicy#FAIL} for a malformed line, with its
   *     position, what is wrong with it, and its start
   */
  @Override
  public void processElement(StreamRecord<TextBlock> element) throws InputException {
    TextBlock block = element.getValue();
    if (block.truncated()) {
      lineCount.inc();
      String reason = "the line is longer than the " + block.bytes().length + " bytes allowed";
      TextLine line = new TextLine(block.path(), block.offset(), block.bytes(), true);
      report(new MalformedLine(line, reason), element);
      return;
    }
    try (RecordBytes lines = deviceContext.retry().withRetry(() -> lines(block))) {
      int count = lines.count();
      lineCount.inc(count);
      int limit = Math.min(maxRows, pace.rowLimit());
      int parts = (count - 1) / limit + 1;
      int part = (count - 1) / parts + 1;
      for (int first = 0; first < count; first += part) {
        deviceContext.checkNotCanceled();
        try (RecordBytes records = lines.slice(first, Math.min(part, count - first))) {
          send(block, records, element);
        }
      }
      // The last line of a block ends behind the limit: one part has room for some lines more.
      double next = Math.min(maxRows, pace.rowLimit()) * ROOM;
      block.limit().set((long) (next * block.bytes().length / count));
    }
  }

  private RecordBytes lines(TextBlock block) {
    try (Buffer text = upload(block.bytes())) {
      return RecordBytes.lines(text, deviceContext.stream(), deviceContext.resource());
    }
  }

  private void send(TextBlock block, RecordBytes records, StreamRecord<TextBlock> element)
      throws InputException {
    try (ParsedRecords parsed = deviceContext.retry().withRetry(() -> reader.read(records))) {
      for (MalformedRecord record : parsed.malformed()) {
        deviceContext.checkNotCanceled();
        report(describe(block, record), element);
      }
      int rows = parsed.table().rowCount();
      if (rows > 0) {
        ColumnBatch batch = new ColumnBatch(parsed.table().share());
        pace.send(rows, () -> ColumnBatch.emit(element.copy(null).replace(batch), output));
      }
    }
  }

  private Buffer upload(byte[] bytes) {
    DeviceContext context = deviceContext;
    try (Buffer pinned =
        Buffer.allocate(bytes.length, context.hostStream(), context.pinnedResource())) {
      try (AccessScope scope = AccessScope.on(context.hostStream())) {
        HostMemory.copyFromArray(pinned.access(AccessMode.WRITE, scope), bytes, 0, bytes.length);
      }
      return context.device().isHostAccessible()
          ? pinned.share()
          : pinned.copyTo(context.resource(), context.uploadStream(), context.uploadStream());
    }
  }

  // What is wrong with it is told by the parser of single lines, which knows the values.
  private MalformedLine describe(TextBlock block, MalformedRecord record) {
    int end = record.start() + record.length();
    end -= end > record.start() && block.bytes()[end - 1] == '\n' ? 1 : 0;
    end -= end > record.start() && block.bytes()[end - 1] == '\r' ? 1 : 0;
    byte[] bytes = Arrays.copyOfRange(block.bytes(), record.start(), end);
    TextLine line = new TextLine(block.path(), block.offset() + record.start(), bytes, false);
    try {
      describer.parse(bytes);
      return new MalformedLine(line, record.reason());
    } catch (MalformedLineException e) {
      return new MalformedLine(line, e.getMessage());
    }
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
    IOUtils.closeAll(reader, deviceContext, super::close);
  }
}
