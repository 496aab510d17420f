// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.device.HostMemory;
import io.millrace.format.text.TextCursor;
import java.util.List;

/** The twin of record_columns.cuh. */
final class HostRecordKernels implements RecordKernels {

  @Override
  public long scratchBytes(RecordFields fields, int count) {
    return 0;
  }

  @Override
  public void parse(Records records) {
    RecordFields fields = records.fields();
    int[] validity = new int[fields.size()];
    int[] nulls = new int[fields.size()];
    int undecided = 0;
    try (RowReader reader = records.format().rowReader(records.targets(), false)) {
      for (int row = 0; row < records.count(); row++) {
        int start = position(records, row);
        long place = (long) row * Integer.BYTES;
        int end = HostMemory.getInt(records.ends() + place);
        long error = read(records, reader, start, end, row);
        HostMemory.putLong(records.errors() + (long) row * Long.BYTES, error);
        if (RecordError.ofWord(error) == RecordError.UNDECIDED) {
          undecided++;
        }
        boolean lastOfWord = row % Integer.SIZE == Integer.SIZE - 1 || row + 1 == records.count();
        for (int i = 0; i < fields.size(); i++) {
          if (reader.isPresent(i)) {
            validity[i] |= 1 << row;
          } else {
            nulls[i]++;
            clear(fields.get(i), records.targets().get(i), row);
          }
          if (lastOfWord) {
            putValidity(records.targets().get(i), row, validity[i]);
            validity[i] = 0;
          }
        }
      }
    }
    for (int i = 0; i < fields.size(); i++) {
      HostMemory.putInt(records.nullCount(i), nulls[i]);
    }
    HostMemory.putInt(records.undecided(), undecided);
  }

  @Override
  public void sumLengths(Records records) {
    RecordFields fields = records.fields();
    for (int i = 0; i < fields.size(); i++) {
      if (fields.get(i).hasLengths()) {
        boolean isString = fields.get(i).kind() == FieldType.STRING;
        long total = offsets(records, records.targets().get(i).second(), isString);
        HostMemory.putLong(records.stringBytes(fields.get(i).string()), total);
      }
    }
  }

  // An undecided row may be kept once its numbers are rounded.
  private static boolean isKept(Records records, int row) {
    return records.kept() == 0
        || HostMemory.getByte(records.kept() + row) != 0
        || RecordError.ofWord(HostMemory.getLong(records.errors() + (long) row * Long.BYTES))
            == RecordError.UNDECIDED;
  }

  private static long read(Records records, RowReader reader, int start, int end, int row) {
    long place = (long) row * Integer.BYTES;
    if (records.programs() != 0) {
      int program = HostMemory.getInt(records.programs() + place);
      return reader.readElement(records.bytes(), start, end, program, row);
    }
    int other = records.others() == 0 ? -1 : HostMemory.getInt(records.others() + place);
    if (other < 0) {
      return reader.read(records.bytes(), start, end, row);
    }
    int otherEnd = HostMemory.getInt(records.otherEnds() + place);
    return reader.read(records.bytes(), start, end, other, otherEnd, row);
  }

  private static int position(Records records, int record) {
    return HostMemory.getInt(records.positions() + (long) record * Integer.BYTES);
  }

  private static void putValidity(Target target, int row, int word) {
    if (target.validity() != 0) {
      HostMemory.putInt(target.validity() + (long) row / Integer.SIZE * Integer.BYTES, word);
    }
  }

  private static void clear(RecordField field, Target target, int row) {
    HostMemory.fill(
        target.values() + (long) row * field.valueBytes(), field.valueBytes(), (byte) 0);
    if (field.hasSecond()) {
      HostMemory.putInt(target.second() + (long) row * Integer.BYTES, 0);
    }
  }

  // Lengths to offsets; the sum of the lengths.
  private static long offsets(Records records, long address, boolean isString) {
    long total = 0;
    for (int row = 0; row < records.count(); row++) {
      long place = address + (long) row * Integer.BYTES;
      int length = isString && !isKept(records, row) ? 0 : HostMemory.getInt(place);
      HostMemory.putInt(place, (int) total);
      total += length;
    }
    HostMemory.putInt(address + (long) records.count() * Integer.BYTES, (int) total);
    return total;
  }

  @Override
  public void findElements(
      Records records, int field, long starts, long ends, long programs, long kept) {
    Target lists = records.targets().get(field);
    TextCursor text = new TextCursor();
    long first = HostMemory.getInt(lists.second());
    for (int row = 0; row < records.count(); row++) {
      long place = (long) row * Integer.BYTES;
      long next = HostMemory.getInt(lists.second() + place + Integer.BYTES);
      if (next > first) {
        long list = HostMemory.getLong(lists.values() + (long) row * Long.BYTES);
        // The list ends before the end of its text, whichever that is.
        int end = HostMemory.getInt(records.ends() + place);
        if (records.others() != 0) {
          end = Math.max(end, HostMemory.getInt(records.otherEnds() + place));
        }
        text.reset(records.bytes(), (int) list, end);
        long offset = first * Integer.BYTES;
        records
            .format()
            .findElements(
                text,
                (int) (list >> Integer.SIZE),
                (int) (next - first),
                starts + offset,
                ends + offset,
                programs == 0 ? 0 : programs + offset);
        if (kept != 0) {
          HostMemory.fill(kept + first, next - first, (byte) (isKept(records, row) ? 1 : 0));
        }
        first = next;
      }
    }
  }

  @Override
  public void copyStrings(Records records, List<Strings> strings) {
    TextCursor text = new TextCursor();
    for (Strings column : strings) {
      int offset = HostMemory.getInt(column.offsets());
      for (int row = 0; row < records.count(); row++) {
        int end = HostMemory.getInt(column.offsets() + (row + 1L) * Integer.BYTES);
        int start = HostMemory.getInt(column.starts() + (long) row * Integer.BYTES);
        if (start >= 0) {
          HostMemory.copy(column.bytes() + offset, records.bytes() + start, end - offset);
        } else {
          text.reset(records.bytes(), start & ~RowBuilder.HAS_ESCAPES, Integer.MAX_VALUE);
          records
              .format()
              .resolveEscapes(column.field(), text, end - offset, column.bytes() + offset);
        }
        offset = end;
      }
    }
  }
}
