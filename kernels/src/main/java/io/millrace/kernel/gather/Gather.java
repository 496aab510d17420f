// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;

/** Makes a table of the rows that a map names. */
@PublicEvolving
public final class Gather {
  private Gather() {}

  /**
   * The rows of {@code input} in the order of {@code map}, in new memory. Enqueued on {@code
   * stream}; does not wait.
   *
   * <p>Strings and lists are given as much memory as they have in the input, so a map for a table
   * with any names no row twice; see {@link #gatherRepeated}. The elements child of a list may be
   * longer than its lists need.
   *
   * @param map INT32 row numbers of the input; a negative one gives zeros or an empty value, and a
   *     null if the column is nullable
   * @throws IllegalArgumentException if the map is not INT32 or may have nulls
   */
  public static Table gather(Table input, Column map, DeviceStream stream, MemoryResource memory) {
    check(map);
    try (AccessScope scope = AccessScope.on(stream);
        GatherPlan moves = new GatherPlan(input.columns(), map.size(), scope, memory)) {
      gatherAll(moves, address(map, scope), stream, memory);
      return new Table(input.schema(), moves.takeColumns(), map.size());
    }
  }

  /**
   * As {@link #gather}, for a map that may name a row more than once. Waits for the device once for
   * each column of strings or lists.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException also if a column would get more bytes or
   *     elements than one can hold
   */
  public static Table gatherRepeated(
      Table input, Column map, DeviceStream stream, MemoryResource memory) {
    check(map);
    try (AccessScope scope = AccessScope.on(stream)) {
      long mapAddress = address(map, scope);
      RepeatedGather repeated = new RepeatedGather(mapAddress, map.size(), scope, memory);
      try (GatherPlan moves = new GatherPlan(input.columns(), repeated)) {
        gatherAll(moves, mapAddress, stream, memory);
        return new Table(input.schema(), moves.takeColumns(), map.size());
      }
    }
  }

  private static void check(Column map) {
    if (map.type().id() != TypeId.INT32 || map.isNullable()) {
      throw new IllegalArgumentException("a gather map is INT32 without nulls, not " + map.type());
    }
  }

  private static long address(Column map, AccessScope scope) {
    return map.data().orElseThrow().access(AccessMode.READ, scope)
        + (long) map.offset() * Integer.BYTES;
  }

  /** Fills all columns of {@code moves}. */
  static void gatherAll(GatherPlan moves, long map, DeviceStream stream, MemoryResource memory) {
    if (stream.device().kind() == DeviceKind.HOST) {
      HostGather.gatherAll(moves, map);
    } else {
      GatherKernels.of(stream.device()).gatherAll(moves, map, 1, stream, memory);
    }
  }
}
