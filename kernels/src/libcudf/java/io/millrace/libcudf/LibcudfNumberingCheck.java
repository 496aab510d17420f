// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import static org.assertj.core.api.Assertions.assertThat;

import ai.rapids.cudf.ColumnVector;
import ai.rapids.cudf.HashType;
import ai.rapids.cudf.HostColumnVector;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Compares the partition of each row with libcudf's on the same GPU: random seeds and numbers of
 * partitions, one and several key columns, nulls, -0.0 and NaN. Not named as a test, because it
 * needs libcudf; choose it by name.
 */
class LibcudfNumberingCheck {
  private static final int ROWS = 5_000;
  private static final int ROUNDS = 40;
  private static final Double[] DOUBLES = {0.0, -0.0, Double.NaN, 1.5, Double.MIN_VALUE, null};

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void everySeedAndNumberOfPartitionsIsNumberedAsLibcudfDoes() {
    Random choice = random.random();
    Long[] longs = values(choice, Long.class);
    Double[] doubles = values(choice, Double.class);
    String[] strings = values(choice, String.class);
    Integer[] rows = IntStream.range(0, ROWS).boxed().toArray(Integer[]::new);
    try (ColumnVector longColumn = ColumnVector.fromBoxedLongs(longs);
        ColumnVector doubleColumn = ColumnVector.fromBoxedDoubles(doubles);
        ColumnVector stringColumn = ColumnVector.fromStrings(strings);
        ColumnVector rowColumn = ColumnVector.fromBoxedInts(rows);
        ai.rapids.cudf.Table theirs =
            new ai.rapids.cudf.Table(longColumn, doubleColumn, stringColumn, rowColumn);
        Table ours =
            new TableBuilder()
                .column("long", DataType.INT64, (Object[]) longs)
                .column("double", DataType.FLOAT64, (Object[]) doubles)
                .column("string", DataType.STRING, (Object[]) strings)
                .column("row", DataType.INT32, (Object[]) rows)
                .build(device)) {
      List<List<Integer>> keySets =
          List.of(
              List.of(0), List.of(1), List.of(2), List.of(0, 2), List.of(2, 1, 0), List.of(1, 1));
      for (int round = 0; round < ROUNDS; round++) {
        List<Integer> keys = keySets.get(round % keySets.size());
        int partitions = 2 + choice.nextInt(round % 2 == 0 ? 64 : 3_000);
        int seed = choice.nextInt();
        assertThat(ours(ours, keys, partitions, seed))
            .as("keys %s, %d partitions, seed %d", keys, partitions, seed)
            .isEqualTo(theirs(theirs, keys, partitions, seed));
      }
    }
  }

  private <T> T[] values(Random choice, Class<T> type) {
    @SuppressWarnings("unchecked") // an array of the class asked for
    T[] values = (T[]) Array.newInstance(type, ROWS);
    for (int i = 0; i < ROWS; i++) {
      Object value =
          type == Long.class
              ? Long.valueOf(choice.nextLong())
              : type == Double.class
                  ? DOUBLES[choice.nextInt(DOUBLES.length)]
                  : "é".repeat(choice.nextInt(9)) + choice.nextInt(50);
      values[i] = choice.nextInt(10) == 0 ? null : type.cast(value);
    }
    return values;
  }

  /** The partition of each row. */
  private List<Integer> ours(Table table, List<Integer> keys, int partitions, int seed) {
    HashFunction function = HashFunction.murmur3(seed);
    try (PartitionedTable partitioned =
        HashPartition.hashPartition(
            table, keys, partitions, function, device.stream(), device.memory())) {
      List<List<Object>> rows = device.rows(partitioned.table());
      return partitionOfRow(
          partitioned.offsets(), partitions, position -> (Integer) rows.get(position).get(3));
    }
  }

  private static List<Integer> theirs(
      ai.rapids.cudf.Table table, List<Integer> keys, int partitions, int seed) {
    int[] indices = keys.stream().mapToInt(Integer::intValue).toArray();
    try (ai.rapids.cudf.PartitionedTable partitioned =
            table.onColumns(indices).hashPartition(HashType.MURMUR3, partitions, seed);
        HostColumnVector rows = partitioned.getColumn(3).copyToHost()) {
      return partitionOfRow(partitioned.getPartitions(), partitions, rows::getInt);
    }
  }

  private static List<Integer> partitionOfRow(
      int[] offsets, int partitions, IntFunction<Integer> rowAt) {
    Integer[] partitionOfRow = new Integer[ROWS];
    for (int partition = 0; partition < partitions; partition++) {
      int end = partition + 1 < partitions ? offsets[partition + 1] : ROWS;
      for (int position = offsets[partition]; position < end; position++) {
        partitionOfRow[rowAt.apply(position)] = partition;
      }
    }
    return new ArrayList<>(List.of(partitionOfRow));
  }
}
