// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.ColumnReader;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.function.IntConsumer;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes CSV that {@link CsvLineParser} reads back to the same values, with the same options. Only
 * fields that need quotes have them; LIST and STRUCT are JSON. Lines end at a line feed alone.
 *
 * <p>Strings may have line feeds in them, which only {@code LineFraming.QUOTED_LINE_FEED} reads.
 */
@PublicEvolving
public final class CsvEncoder implements TableEncoder {
  private static final long serialVersionUID = 1L;

  private final CsvOptions options;
  private transient TextBuffer out;

  public CsvEncoder(CsvOptions options) {
    this.options = Objects.requireNonNull(options, "options are null");
  }

  @Override
  public String fileSuffix() {
    return ".csv";
  }

  /** The header, if there is to be one. */
  @Override
  public byte[] fileStart(Schema schema) {
    if (!options.header()) {
      return new byte[0];
    }
    start();
    for (int i = 0; i < schema.size(); i++) {
      if (i > 0) {
        out.append(options.delimiter());
      }
      int start = out.size();
      out.append(schema.field(i).name().getBytes(StandardCharsets.UTF_8));
      finishField(start);
    }
    out.append('\n');
    return out.toByteArray();
  }

  @Override
  public byte[] encode(Table table, AccessScope scope) {
    start();
    JsonValueWriter json = new JsonValueWriter(out);
    TextValueWriter text = new TextValueWriter(out);
    List<IntConsumer> fields =
        table.columns().stream()
            .map(column -> new ColumnReader(column, scope))
            .map(column -> nullable(column, field(column, json, text)))
            .toList();
    for (int row = 0; row < table.rowCount(); row++) {
      for (int i = 0; i < fields.size(); i++) {
        if (i > 0) {
          out.append(options.delimiter());
        }
        fields.get(i).accept(row);
      }
      out.append('\n');
    }
    return out.toByteArray();
  }

  private void start() {
    if (out == null) {
      out = new TextBuffer();
    }
    out.clear();
  }

  private static IntConsumer nullable(ColumnReader column, IntConsumer field) {
    return row -> {
      if (!column.isNull(row)) {
        field.accept(row);
      }
    };
  }

  private IntConsumer field(ColumnReader column, JsonValueWriter json, TextValueWriter text) {
    return switch (column.type().id()) {
      case STRING ->
          quotedIfNeeded(row -> out.append(column.getBytesAddress(row), column.getLength(row)));
      case LIST, STRUCT -> quotedIfNeeded(json.of(column));
      case DICTIONARY -> {
        ColumnReader dictionary = column.dictionary();
        IntConsumer values = nullable(dictionary, field(dictionary, json, text));
        yield row -> values.accept(column.getInt(row));
      }
      default -> quotedIfNeeded(text.of(column));
    };
  }

  private IntConsumer quotedIfNeeded(IntConsumer value) {
    return row -> {
      int start = out.size();
      value.accept(row);
      finishField(start);
    };
  }

  // The bytes behind start are the field's: puts them between quotes if need be.
  private void finishField(int start) {
    int end = out.size();
    boolean quote = start == end;
    for (int i = start; i < end && !quote; i++) {
      byte b = out.byteAt(i);
      quote = b == options.delimiter() || b == '"' || b == '\n' || b == '\r';
    }
    if (!quote) {
      return;
    }
    byte[] field = out.copyFrom(start);
    out.truncate(start);
    out.append('"');
    for (byte b : field) {
      if (b == '"') {
        out.append(b);
      }
      out.append(b);
    }
    out.append('"');
  }
}
