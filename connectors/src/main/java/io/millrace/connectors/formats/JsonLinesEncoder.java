// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.ColumnReader;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import java.util.List;
import java.util.function.IntConsumer;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes JSON lines that {@link JsonLineParser} reads back to the same values. Nulls are written;
 * NaN, infinities, dates, times, timestamps and bytes are strings; decimals are numbers.
 */
@PublicEvolving
public final class JsonLinesEncoder implements TableEncoder {
  private static final long serialVersionUID = 1L;

  private transient TextBuffer out;

  @Override
  public String fileSuffix() {
    return ".jsonl";
  }

  @Override
  public byte[] encode(Table table, AccessScope scope) {
    if (out == null) {
      out = new TextBuffer();
    }
    out.clear();
    List<ColumnReader> columns =
        table.columns().stream().map(column -> new ColumnReader(column, scope)).toList();
    IntConsumer object = new JsonValueWriter(out).object(table.schema().fields(), columns);
    for (int row = 0; row < table.rowCount(); row++) {
      object.accept(row);
      out.append('\n');
    }
    return out.toByteArray();
  }
}
