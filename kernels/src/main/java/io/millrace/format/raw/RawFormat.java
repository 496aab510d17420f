// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.raw;

import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;
import io.millrace.format.record.RecordError;
import io.millrace.format.record.RecordField;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RecordFormat;
import io.millrace.format.record.RecordKernels.Target;
import io.millrace.format.record.RowBuilder;
import io.millrace.format.record.RowReader;
import io.millrace.format.text.TextCursor;
import java.util.List;

/** Records as they are. The twin of raw.cu. */
final class RawFormat implements RecordFormat {
  /** The structure {@code RawPlan} of raw.cu. */
  static final class Layout {
    static final KernelStructure LAYOUT = new KernelStructure("RawPlan");
    static final KernelStructure.Int32 IS_TEXT = LAYOUT.int32("is_text");
    static final KernelStructure.Int32 IS_LINE = LAYOUT.int32("is_line");

    private Layout() {}
  }

  private static final int COLUMN = 1;

  private final RecordFields fields;
  private final boolean isText;
  private final boolean isLine;

  RawFormat(RecordFields fields, boolean isLine) {
    this.fields = fields;
    this.isText = fields.get(COLUMN).type().id() == TypeId.STRING;
    this.isLine = isLine;
  }

  @Override
  public int bytes() {
    return Layout.LAYOUT.bytes();
  }

  @Override
  public void write(long address, long target) {
    HostMemory.putInt(target + Layout.IS_TEXT.offset(), isText ? 1 : 0);
    HostMemory.putInt(target + Layout.IS_LINE.offset(), isLine ? 1 : 0);
  }

  @Override
  public RowReader rowReader(List<Target> targets, boolean exact) {
    return new RawRecordReader(new RowBuilder(fields, targets, exact));
  }

  @Override
  public void resolveEscapes(RecordField field, TextCursor text, int bytes, long target) {
    throw new IllegalStateException("records have no escapes");
  }

  private final class RawRecordReader implements RowReader {
    private final TextCursor text = new TextCursor();
    private final RowBuilder row;

    RawRecordReader(RowBuilder row) {
      this.row = row;
    }

    @Override
    public boolean isPresent(int field) {
      return row.isPresent(field);
    }

    @Override
    public long read(long address, int start, int end, int intoRow) {
      text.reset(address, start, end);
      if (isLine) {
        text.dropLineEnd();
      }
      row.begin(intoRow);
      row.putString(COLUMN, start, false, text.end() - start);
      if (isText && !text.skipText()) {
        return RecordError.NO_UTF8.word(0, text.at() - start);
      }
      row.setPresent(0);
      row.setPresent(COLUMN);
      return 0;
    }
  }
}
