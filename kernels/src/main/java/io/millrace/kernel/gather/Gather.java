// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;

/** Builds a table from the rows that a map selects. */
@PublicEvolving
public final class Gather {
  static final PerDevice<RowGather> IMPLEMENTATIONS =
      new PerDevice<>(host -> new HostGather(), GatherKernels::of);

  private Gather() {}

  /**
   * Copies the rows of {@code input} in the order of {@code map} into new memory. Enqueued on
   * {@code stream}; does not wait.
   *
   * <p>Strings and lists are given as much memory as they have in the input, so the map must not
   * name a row of a table with strings or lists twice; see {@link #gatherRepeated}. The elements
   * child of a list may be longer than its lists need.
   *
   * @param map INT32 row numbers of the input; a negative number gives a zero or an empty value,
   *     and a null if the column is nullable
   * @throws IllegalArgumentException if the map is not INT32 or may have nulls
   */
  public static Table gather(Table input, Column map, DeviceStream stream, MemoryResource memory) {
    check(map);
    try (AccessScope scope = AccessScope.on(stream);
        GatherPlan plan = new GatherPlan(input.columns(), map.size(), scope, memory)) {
      IMPLEMENTATIONS.of(stream.device()).gatherAll(plan, map.dataAddress(scope), stream, memory);
      return new Table(input.schema(), plan.takeColumns(), map.size());
    }
  }

  /**
   * As {@link #gather}, for a map that may name a row more than once. Waits for the device once per
   * column of strings or lists.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException also if a column would get more than 2 Gi
   *     bytes or elements
   */
  public static Table gatherRepeated(
      Table input, Column map, DeviceStream stream, MemoryResource memory) {
    check(map);
    try (AccessScope scope = AccessScope.on(stream)) {
      long mapAddress = map.dataAddress(scope);
      RowGather gather = IMPLEMENTATIONS.of(stream.device());
      RepeatedGather repeated = new RepeatedGather(gather, mapAddress, map.size(), scope, memory);
      try (GatherPlan plan = new GatherPlan(input.columns(), repeated)) {
        gather.gatherAll(plan, mapAddress, stream, memory);
        return new Table(input.schema(), plan.takeColumns(), map.size());
      }
    }
  }

  private static void check(Column map) {
    if (map.type().id() != TypeId.INT32 || map.isNullable()) {
      throw new IllegalArgumentException(
          "expected a gather map of INT NOT NULL, got "
              + map.type()
              + (map.isNullable() ? "" : " NOT NULL"));
    }
  }
}
