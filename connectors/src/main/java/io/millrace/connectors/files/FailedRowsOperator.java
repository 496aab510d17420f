// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.format.RecordBytes;
import io.millrace.format.json.JsonWriter;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.DownloadQueue;
import io.millrace.operators.transfer.DownloadingOperator;
import io.millrace.operators.transform.FailedRows;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Makes malformed lines of rows that an expression failed for: at the line that the row was read
 * from, with the row as JSON for its text.
 */
@PublicEvolving
public final class FailedRowsOperator extends DownloadingOperator<MalformedLine> {
  private static final long serialVersionUID = 1L;

  private final List<String> columns;

  private FailedRowsOperator(
      StreamOperatorParameters<MalformedLine> parameters, List<String> columns) {
    super(parameters);
    this.columns = columns;
  }

  /**
   * Appends the operator to {@code failedRows}.
   *
   * @param failedRows batches of {@link FailedRows#schema} of {@link LinePosition#addTo} of {@code
   *     schema}
   * @param schema of the rows as they were read
   */
  public static SingleOutputStreamOperator<MalformedLine> describe(
      DataStream<ColumnBatch> failedRows, Schema schema) {
    OperatorFactory<ColumnBatch, MalformedLine> factory =
        new OperatorFactory<>(
            FailedRowsOperator.class,
            parameters -> new FailedRowsOperator(parameters, List.copyOf(schema.names())));
    return factory.appendTo(
        failedRows, "describe failed rows", MalformedLineSerializer.typeInformation());
  }

  @Override
  protected void download(
      ColumnBatch batch, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    downloads.add(
        batch,
        table ->
            deviceContext()
                .retry()
                .withHostRetry(() -> lines(table))
                .forEach(line -> output.collect(element.copy(null).replace(line))));
  }

  private List<MalformedLine> lines(Table table) {
    List<MalformedLine> lines = new ArrayList<>();
    DeviceStream stream = deviceContext().hostStream();
    try (AccessScope scope = AccessScope.on(stream);
        Table rows = table.select(columns);
        JsonWriter writer =
            new JsonWriter(rows.schema(), stream, deviceContext().pinnedResource());
        RecordBytes records = writer.write(rows);
        Column json = records.toColumn()) {
      ColumnReader files = new ColumnReader(table.column(LinePosition.FILE), scope);
      ColumnReader offsets = new ColumnReader(table.column(LinePosition.OFFSET), scope);
      ColumnReader reasons = new ColumnReader(table.column(FailedRows.REASON), scope);
      ColumnReader texts = new ColumnReader(json, scope);
      for (int row = 0; row < table.rowCount(); row++) {
        byte[] text = text(texts, row).stripTrailing().getBytes(StandardCharsets.UTF_8);
        TextLine line = new TextLine(text(files, row), offsets.getLong(row), text, false);
        lines.add(new MalformedLine(line, text(reasons, row)));
      }
    }
    return lines;
  }

  private static String text(ColumnReader column, int row) {
    return new String(column.getBytes(row), StandardCharsets.UTF_8);
  }
}
