// SPDX-License-Identifier: Apache-2.0
/**
 * Files as sources and sinks, each line or row exactly once.
 *
 * <p>Reading: {@link io.millrace.connectors.files.TextFileSource} gives lines with their positions,
 * {@link io.millrace.connectors.files.LineParsingFunction#parse} turns them into rows and those
 * that cannot be parsed into a side output; {@link
 * io.millrace.connectors.files.arrow.ArrowFileSource} gives the batches of Arrow IPC streams.
 * Writing: {@link io.millrace.connectors.files.sink.FileSinks}.
 *
 * <pre>{@code
 * DataStream<TextLine> lines =
 *     env.fromSource(
 *         TextFileSource.of(List.of("in/*.jsonl")).create(),
 *         WatermarkStrategy.noWatermarks(),
 *         "lines");
 * SingleOutputStreamOperator<RowData> rows =
 *     LineParsingFunction.parse(lines, new JsonLineParser(schema), MalformedLinePolicy.SIDE_OUTPUT);
 * FileSinks.malformedLines(rows.getSideOutput(LineParsingFunction.MALFORMED_LINES), new Path("out-bad"));
 * FileSinks.write(batches, schema, new JsonLinesEncoder(), new Path("out"));
 * }</pre>
 */
package io.millrace.connectors.files;
