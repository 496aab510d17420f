// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import io.millrace.column.Schema;
import io.millrace.connectors.formats.LineParser;
import io.millrace.connectors.formats.MalformedLineException;
import io.millrace.operators.row.SchemaConverter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.utils.JoinedRowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Parses lines into rows. Lines that cannot be parsed go to {@link #MALFORMED_LINES}, or fail the
 * job.
 *
 * <p>Metrics, in the group {@code millrace.parse}: {@code lines}, {@code malformedLines}.
 */
@PublicEvolving
public final class LineParsingFunction extends ProcessFunction<TextLine, RowData> {
  /** The side output of lines that could not be parsed. */
  public static final OutputTag<MalformedLine> MALFORMED_LINES =
      new OutputTag<>("malformed-lines", MalformedLineSerializer.typeInformation());

  private static final long serialVersionUID = 1L;

  private final LineParser parser;
  private final MalformedLinePolicy policy;
  private final boolean withPositions;
  // The header for the parser, of the last line's file.
  private transient byte[] header;
  // The file of the last line, as rows have it.
  private transient String path;
  private transient StringData pathText;
  private transient Counter lineCount;
  private transient Counter malformedLineCount;

  /**
   * @param withPositions whether rows have the columns of {@link LinePosition} behind their own
   */
  public LineParsingFunction(LineParser parser, MalformedLinePolicy policy, boolean withPositions) {
    this.parser = Objects.requireNonNull(parser, "parser is null");
    this.policy = Objects.requireNonNull(policy, "policy is null");
    this.withPositions = withPositions;
  }

  /** Appends the operator to {@code lines}. */
  public static SingleOutputStreamOperator<RowData> parse(
      DataStream<TextLine> lines, LineParser parser, MalformedLinePolicy policy) {
    return append(lines, new LineParsingFunction(parser, policy, false), parser.schema());
  }

  /** As {@link #parse}, of rows with the columns of {@link LinePosition} behind their own. */
  public static SingleOutputStreamOperator<RowData> parseWithPositions(
      DataStream<TextLine> lines, LineParser parser, MalformedLinePolicy policy) {
    Schema schema = LinePosition.addTo(parser.schema());
    return append(lines, new LineParsingFunction(parser, policy, true), schema);
  }

  private static SingleOutputStreamOperator<RowData> append(
      DataStream<TextLine> lines, LineParsingFunction operator, Schema schema) {
    return lines
        .process(operator)
        .returns(InternalTypeInfo.of(SchemaConverter.toRowType(schema)))
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
    if (row.isPresent()) {
      out.collect(withPositions ? positioned(row.get(), line) : row.get());
    }
  }

  private RowData positioned(RowData row, TextLine line) {
    if (!line.path().equals(path)) {
      path = line.path();
      pathText = StringData.fromBytes(path.getBytes(StandardCharsets.UTF_8));
    }
    return new JoinedRowData(row, GenericRowData.of(pathText, line.offset()));
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
