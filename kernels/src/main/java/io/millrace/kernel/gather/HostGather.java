// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import io.millrace.annotation.Internal;
import io.millrace.column.Column;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.MemoryResource;

/** Gathers rows in host memory: the host implementation of gather.cu. */
@Internal
public final class HostGather implements RowGather {
  private static final int LONGEST_SHORT_RUN = 64;

  HostGather() {}

  @Override
  public void gatherAll(GatherPlan plan, long map, DeviceStream stream, MemoryResource memory) {
    gatherAll(plan, map);
  }

  /** Moves all columns of {@code plan}. */
  public static void gatherAll(GatherPlan plan, long map) {
    plan.fixed().forEach(move -> gatherFixed(move, map, plan.rows()));
    plan.masks().forEach(move -> gatherMask(move, map, plan.rows()));
    plan.runs().forEach(move -> gatherRuns(move, map, plan.rows()));
  }

  private static int source(long map, int row) {
    return HostMemory.getInt(map + (long) row * Integer.BYTES);
  }

  // One loop per width; rows without a source are zeros.
  private static void gatherFixed(GatherPlan.FixedWidthGather move, long map, int rows) {
    long input = move.input();
    long output = move.output();
    switch (move.width()) {
      case Byte.BYTES -> {
        for (int row = 0; row < rows; row++) {
          int source = source(map, row);
          HostMemory.putByte(output + row, source < 0 ? 0 : HostMemory.getByte(input + source));
        }
      }
      case Short.BYTES -> {
        for (int row = 0; row < rows; row++) {
          long source = (long) source(map, row) * Short.BYTES;
          short value = source < 0 ? 0 : HostMemory.getShort(input + source);
          HostMemory.putShort(output + (long) row * Short.BYTES, value);
        }
      }
      case Integer.BYTES -> {
        for (int row = 0; row < rows; row++) {
          long source = (long) source(map, row) * Integer.BYTES;
          int value = source < 0 ? 0 : HostMemory.getInt(input + source);
          HostMemory.putInt(output + (long) row * Integer.BYTES, value);
        }
      }
      default -> gatherLongs(input, output, move.width() / Long.BYTES, map, rows);
    }
  }

  private static void gatherLongs(long input, long output, int longs, long map, int rows) {
    for (int part = 0; part < longs; part++) {
      long from = input + (long) part * Long.BYTES;
      long to = output + (long) part * Long.BYTES;
      int width = longs * Long.BYTES;
      for (int row = 0; row < rows; row++) {
        long source = (long) source(map, row) * width;
        HostMemory.putLong(
            to + (long) row * width, source < 0 ? 0 : HostMemory.getLong(from + source));
      }
    }
  }

  private static void gatherMask(GatherPlan.MaskMove move, long map, int rows) {
    long output = move.output();
    for (int first = 0; first >= 0 && first < rows; first += Long.SIZE) {
      HostMemory.putLong(output, maskWord(move, map, first, Math.min(Long.SIZE, rows - first)));
      output += Long.BYTES;
    }
    HostMemory.fill(output, move.output() + Column.maskBytes(rows) - output, (byte) 0);
  }

  private static long maskWord(GatherPlan.MaskMove move, long map, int first, int count) {
    long word = 0;
    for (int i = 0; i < count; i++) {
      int source = source(map, first + i);
      if (source >= 0) {
        long bit = (long) move.bitOffset() + source;
        word |= (HostMemory.getByte(move.input() + (bit >>> 3)) >>> (bit & 7) & 1L) << i;
      }
    }
    return word;
  }

  @Override
  public long countRuns(
      long map, long inputOffsets, int rows, DeviceStream stream, MemoryResource memory) {
    long count = 0;
    for (int row = 0; row < rows; row++) {
      int source = source(map, row);
      if (source >= 0) {
        long offset = inputOffsets + (long) source * Integer.BYTES;
        count += HostMemory.getInt(offset + Integer.BYTES) - HostMemory.getInt(offset);
      }
    }
    return count;
  }

  private static void gatherRuns(GatherPlan.OffsetGather move, long map, int rows) {
    if (move.elements() == null) {
      gatherStrings(move, map, rows);
      return;
    }
    int end = numberElements(move, map, rows);
    for (int i = end; i < move.capacity(); i++) {
      HostMemory.putInt(move.output() + (long) i * Integer.BYTES, -1);
    }
    gatherAll(move.elements(), move.output());
  }

  @Override
  public void gatherStrings(
      GatherPlan.OffsetGather move, long map, int rows, long scratch, DeviceStream stream) {
    gatherStrings(move, map, rows);
  }

  private static void gatherStrings(GatherPlan.OffsetGather move, long map, int rows) {
    long bytes = move.inputBytes();
    long output = move.output();
    int capacity = move.capacity();
    int end = 0;
    HostMemory.putInt(move.outputOffsets(), 0);
    for (int row = 0; row < rows; row++) {
      int source = source(map, row);
      if (source >= 0) {
        long offset = move.inputOffsets() + (long) source * Integer.BYTES;
        int begin = HostMemory.getInt(offset);
        int length = HostMemory.getInt(offset + Integer.BYTES) - begin;
        checkRoom(end, length, capacity);
        copyBytes(output + end, bytes + begin, length);
        end += length;
      }
      HostMemory.putInt(move.outputOffsets() + (row + 1L) * Integer.BYTES, end);
    }
  }

  private static void checkRoom(int end, int length, int capacity) {
    if (end + (long) length > capacity) {
      throw new IllegalArgumentException("the map names a row of strings or lists twice");
    }
  }

  // Most strings are short: a call into the virtual machine takes longer than copying them. The
  // last word overlaps the word before it.
  private static void copyBytes(long output, long input, int length) {
    if (length > LONGEST_SHORT_RUN) {
      HostMemory.copy(output, input, length);
      return;
    }
    if (length >= Long.BYTES) {
      for (int done = Long.BYTES; done < length; done += Long.BYTES) {
        copyLong(output, input, done - Long.BYTES);
      }
      copyLong(output, input, length - Long.BYTES);
    } else if (length >= Integer.BYTES) {
      HostMemory.putInt(output, HostMemory.getInt(input));
      int last = length - Integer.BYTES;
      HostMemory.putInt(output + last, HostMemory.getInt(input + last));
    } else {
      for (int i = 0; i < length; i++) {
        HostMemory.putByte(output + i, HostMemory.getByte(input + i));
      }
    }
  }

  private static void copyLong(long output, long input, int at) {
    HostMemory.putLong(output + at, HostMemory.getLong(input + at));
  }

  @Override
  public void numberElements(
      GatherPlan.OffsetGather lists,
      long map,
      int rows,
      DeviceStream stream,
      MemoryResource memory) {
    numberElements(lists, map, rows);
  }

  /** Writes the row numbers of the elements; returns their count. */
  private static int numberElements(GatherPlan.OffsetGather move, long map, int rows) {
    int end = 0;
    HostMemory.putInt(move.outputOffsets(), 0);
    for (int row = 0; row < rows; row++) {
      int source = source(map, row);
      if (source >= 0) {
        long offset = move.inputOffsets() + (long) source * Integer.BYTES;
        int begin = HostMemory.getInt(offset);
        int length = HostMemory.getInt(offset + Integer.BYTES) - begin;
        checkRoom(end, length, move.capacity());
        for (int i = 0; i < length; i++) {
          HostMemory.putInt(move.output() + (end + (long) i) * Integer.BYTES, begin + i);
        }
        end += length;
      }
      HostMemory.putInt(move.outputOffsets() + (row + 1L) * Integer.BYTES, end);
    }
    return end;
  }
}
