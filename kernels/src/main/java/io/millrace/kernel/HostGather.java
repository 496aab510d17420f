package io.millrace.kernel;

import io.millrace.column.Column;
import io.millrace.device.HostMemory;

/** Moves rows in host memory: the twin of gather.cu. */
final class HostGather {
  private HostGather() {}

  static void gatherAll(RowMoves moves, long map) {
    moves.fixed().forEach(move -> gatherFixed(move, map, moves.rows()));
    moves.masks().forEach(move -> gatherMask(move, map, moves.rows()));
    moves.runs().forEach(move -> gatherRuns(move, map, moves.rows()));
  }

  private static int source(long map, int row) {
    return HostMemory.getInt(map + (long) row * Integer.BYTES);
  }

  private static void gatherFixed(RowMoves.FixedMove move, long map, int rows) {
    for (int row = 0; row < rows; row++) {
      int source = source(map, row);
      long output = move.output() + (long) row * move.width();
      if (source < 0) {
        HostMemory.fill(output, move.width(), (byte) 0);
      } else {
        copy(output, move.input() + (long) source * move.width(), move.width());
      }
    }
  }

  private static void copy(long output, long input, int width) {
    switch (width) {
      case Byte.BYTES -> HostMemory.putByte(output, HostMemory.getByte(input));
      case Short.BYTES -> HostMemory.putShort(output, HostMemory.getShort(input));
      case Integer.BYTES -> HostMemory.putInt(output, HostMemory.getInt(input));
      case Long.BYTES -> HostMemory.putLong(output, HostMemory.getLong(input));
      default -> HostMemory.copy(output, input, width);
    }
  }

  private static void gatherMask(RowMoves.MaskMove move, long map, int rows) {
    HostMemory.fill(move.output(), Column.maskBytes(rows), (byte) 0);
    for (int row = 0; row < rows; row++) {
      int source = source(map, row);
      if (source >= 0 && HostMemory.getBit(move.input(), (long) move.bitOffset() + source)) {
        HostMemory.putBit(move.output(), row, true);
      }
    }
  }

  /** How many bytes or elements the runs of all rows have. */
  static long countRuns(long map, long inputOffsets, int rows) {
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

  private static void gatherRuns(RowMoves.RunsMove move, long map, int rows) {
    int end = moveRuns(move, map, rows, move.elements() != null);
    if (move.elements() != null) {
      for (int i = end; i < move.capacity(); i++) {
        HostMemory.putInt(move.output() + (long) i * Integer.BYTES, -1);
      }
      gatherAll(move.elements(), move.output());
    }
  }

  /** Writes the numbers of the elements of lists, without moving those. */
  static void numberElements(RowMoves.RunsMove move, long map, int rows) {
    moveRuns(move, map, rows, true);
  }

  private static int moveRuns(RowMoves.RunsMove move, long map, int rows, boolean isList) {
    int end = 0;
    HostMemory.putInt(move.outputOffsets(), 0);
    for (int row = 0; row < rows; row++) {
      int source = source(map, row);
      if (source >= 0) {
        long offset = move.inputOffsets() + (long) source * Integer.BYTES;
        int begin = HostMemory.getInt(offset);
        int length = HostMemory.getInt(offset + Integer.BYTES) - begin;
        copyRun(move, begin, end, length, isList);
        end += length;
      }
      HostMemory.putInt(move.outputOffsets() + (row + 1L) * Integer.BYTES, end);
    }
    return end;
  }

  private static void copyRun(
      RowMoves.RunsMove move, int begin, int end, int length, boolean isList) {
    if (end + (long) length > move.capacity()) {
      throw new IllegalArgumentException("the map names a row of strings or lists twice");
    }
    if (!isList) {
      HostMemory.copy(move.output() + end, move.inputBytes() + begin, length);
    } else {
      for (int i = 0; i < length; i++) {
        HostMemory.putInt(move.output() + (end + (long) i) * Integer.BYTES, begin + i);
      }
    }
  }
}
