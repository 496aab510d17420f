// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import java.util.ArrayList;
import java.util.List;

/** The simplest implementation of a stable partition. */
final class Partitions {
  private Partitions() {}

  static <T> List<T> reorder(List<T> rows, List<Integer> partitionOf, int partitions) {
    List<List<T>> grouped = new ArrayList<>();
    for (int i = 0; i < partitions; i++) {
      grouped.add(new ArrayList<>());
    }
    for (int row = 0; row < rows.size(); row++) {
      grouped.get(partitionOf.get(row)).add(rows.get(row));
    }
    return grouped.stream().flatMap(List::stream).toList();
  }

  static int[] offsets(List<Integer> partitionOf, int partitions) {
    int[] offsets = new int[partitions + 1];
    partitionOf.forEach(partition -> offsets[partition + 1]++);
    for (int i = 0; i < partitions; i++) {
      offsets[i + 1] += offsets[i];
    }
    return offsets;
  }
}
