package io.millrace.connectors.files;

import io.millrace.connectors.formats.LineParser;
import io.millrace.connectors.formats.MalformedLineException;
import io.millrace.operators.row.SchemaConverter;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Parses lines into rows. Lines that cannot be parsed go to {@link #MALFORMED_LINES}, or fail the
 * job.
 *
 * <p>Metrics, in the group {@code millrace.parse}: {@code lines}, {@code malformedLines}.
 */
public final class ParseLines extends ProcessFunction<TextLine, RowData> {
  /** The side output of lines that could not be parsed. */
  public static final OutputTag<MalformedLine> MALFORMED_LINES =
      new OutputTag<>("malformed-lines", MalformedLineSerializer.typeInformation());

  private static final long serialVersionUID = 1L;

  private final LineParser parser;
  private final MalformedLinePolicy policy;
  // What the parser goes by: that of the last line's file.
  private transient byte[] header;
  private transient Counter lineCount;
  private transient Counter malformedLineCount;

  public ParseLines(LineParser parser, MalformedLinePolicy policy) {
    this.parser = Objects.requireNonNull(parser, "parser is null");
    this.policy = Objects.requireNonNull(policy, "policy is null");
  }

  /** Appends the operator to {@code lines}. */
  public static SingleOutputStreamOperator<RowData> parse(
      DataStream<TextLine> lines, LineParser parser, MalformedLinePolicy policy) {
    return lines
        .process(new ParseLines(parser, policy))
        .returns(InternalTypeInfo.of(SchemaConverter.toRowType(parser.schema())))
        .name("parse lines");
  }

  @Override
  public void open(OpenContext context) throws Exception {
    MetricGroup group = getRuntimeContext().getMetricGroup().addGroup("millrace").addGroup("parse");
    lineCount = group.counter("lines");
    malformedLineCount = group.counter("malformedLines");
  }

  /**
   * @throws InputException if a file's header does not fit the columns; under {@link
   *     MalformedLinePolicy#FAIL} also for a malformed line, with its position, what is wrong with
   *     it, and its start
   */
  @Override
  public void processElement(TextLine line, Context context, Collector<RowData> out)
      throws InputException {
    lineCount.inc();
    useHeaderOf(line);
    Optional<RowData> row;
    try {
      if (line.truncated()) {
        throw new MalformedLineException(
            "the line is longer than the " + line.bytes().length + " bytes allowed");
      }
      row = parser.parse(line.bytes());
    } catch (MalformedLineException e) {
      malformedLineCount.inc();
      MalformedLine malformed = new MalformedLine(line, e.getMessage());
      if (policy == MalformedLinePolicy.FAIL) {
        throw new InputException(malformed.message(), e);
      }
      context.output(MALFORMED_LINES, malformed);
      return;
    }
    row.ifPresent(out::collect);
  }

  private void useHeaderOf(TextLine line) throws InputException {
    if (line.header() == header) {
      return;
    }
    if (!Arrays.equals(line.header(), header)) {
      try {
        parser.useHeader(line.header());
      } catch (MalformedLineException e) {
        throw new InputException(line.path() + ": " + e.getMessage(), e);
      }
    }
    header = line.header();
  }
}
