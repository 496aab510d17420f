// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.KernelStructure;
import io.millrace.kernel.gather.GatherKernels;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class HashPartitionTest {
  private static final int PARTITIONS = 16;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  static Stream<String> libcudfColumns() {
    return GoldenTable.read("libcudf-hash-partitions.csv").names().stream();
  }

  static Stream<String> flinkColumns() {
    return GoldenTable.read("flink-key-groups.csv").names().stream();
  }

  @ParameterizedTest
  @MethodSource("libcudfColumns")
  void numbersAreThoseOfLibcudf(String heading) {
    boolean isIdentity = heading.startsWith("identity");
    String keys = heading.substring((isIdentity ? "identity_p16_" : "murmur3_seed0_p16_").length());
    assertNumbers(
        GoldenTable.read("libcudf-hash-input.csv"),
        List.of(keys.split("\\+")),
        GoldenTable.read("libcudf-hash-partitions.csv").column(heading),
        PartitionAssigner.modulo(PARTITIONS),
        isIdentity ? HashFunction.IDENTITY : HashFunction.MURMUR3_32);
  }

  @ParameterizedTest
  @MethodSource("flinkColumns")
  void numbersAreThoseOfFlink(String heading) {
    int second = heading.indexOf('_', heading.indexOf('_') + 1);
    PartitionAssigner numbering =
        switch (heading.substring(0, second)) {
          case "java_group128" -> PartitionAssigner.keyGroups(128);
          case "java_subtask100of7" -> PartitionAssigner.subtasks(100, 7);
          default -> PartitionAssigner.keyGroups(32768);
        };
    assertNumbers(
        GoldenTable.read("flink-key-input.csv"),
        List.of(heading.substring(second + 1).split("\\+")),
        GoldenTable.read("flink-key-groups.csv").column(heading),
        numbering,
        heading.startsWith("java") ? HashFunction.FLINK_JAVA : HashFunction.FLINK_BINARY_ROW);
  }

  // Flink has no number for a null Java key; the hash 0 stands for it.
  private void assertNumbers(
      GoldenTable golden,
      List<String> keys,
      List<String> numbers,
      PartitionAssigner numbering,
      HashFunction function) {
    List<Integer> partitionOf =
        numbers.stream()
            .map(cell -> cell.equals("null") ? numbering.partition(0) : Integer.valueOf(cell))
            .toList();
    List<Object> rowNumbers = new ArrayList<>(IntStream.range(0, numbers.size()).boxed().toList());
    TableBuilder builder = golden.builder(keys).column(Field.of("row", DataType.INT32), rowNumbers);
    List<Integer> positions = IntStream.range(0, keys.size()).boxed().toList();
    try (Table table = builder.build(device);
        PartitionedTable partitioned = partition(table, positions, numbering, function)) {
      List<List<Object>> expected =
          Partitions.reorder(device.rows(table), partitionOf, numbering.partitions());
      assertThat(device.rows(partitioned.table())).isEqualTo(expected);
      assertThat(partitioned.offsets())
          .isEqualTo(Partitions.offsets(partitionOf, numbering.partitions()));
    }
  }

  @RowCountTest
  void everyTypeMovesWithItsRow(int rowCount) {
    RandomTables tables = new RandomTables(random.random(), 0.2);
    Schema schema = DataTypes.schema(withKeyFirst(DataTypes.all()));
    try (Table table = tables.generate(schema, Math.min(rowCount, 2_100), device)) {
      for (int partitions : List.of(1, 64)) {
        assertSameAsHost(table, List.of(0, 1), partitions, HashFunction.murmur3(7));
      }
    }
  }

  private static List<DataType> withKeyFirst(List<DataType> types) {
    return Stream.concat(Stream.of(DataType.INT64, DataType.STRING), types.stream()).toList();
  }

  @RowCountTest
  void plainIntegerKeys(int rowCount) {
    for (DataType type : List.of(DataType.INT64, DataType.INT32)) {
      Schema schema =
          Schema.of(
              new Field("key", type, false),
              new Field("wide", DataType.decimal(38, 2), false),
              new Field("narrow", DataType.INT8, false));
      try (Table table =
          new RandomTables(random.random(), 0)
              .generate(schema, Math.min(rowCount, 9_000), device)) {
        for (HashFunction function :
            List.of(
                HashFunction.MURMUR3_32,
                HashFunction.IDENTITY,
                HashFunction.FLINK_JAVA,
                HashFunction.FLINK_BINARY_ROW)) {
          assertSameAsHost(table, List.of(0), 7, function);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 64, 512})
  void manyTiles(int partitions) {
    Schema schema = Schema.of(new Field("key", DataType.INT64, false));
    int rowCount = partitions == 512 ? 1_100_000 : 200_000;
    Object[] keys = random.random().longs(rowCount).boxed().toArray();
    try (Table table =
            new TableBuilder().column(schema.field(0), Arrays.asList(keys)).build(device);
        PartitionedTable partitioned =
            partition(
                table, List.of(0), PartitionAssigner.modulo(partitions), HashFunction.IDENTITY)) {
      List<Integer> partitionOf =
          Arrays.stream(keys).map(key -> Math.floorMod((Long) key, partitions)).toList();
      assertThat(partitioned.offsets()).isEqualTo(Partitions.offsets(partitionOf, partitions));
      List<Object> expected = Partitions.reorder(Arrays.asList(keys), partitionOf, partitions);
      assertThat(TableRows.of(partitioned.table().column(0), device)).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 512, 1000, 1024, 1025, 5000, 1 << 20})
  void anyNumberOfPartitions(int partitions) {
    Schema schema = DataTypes.schema(List.of(DataType.INT64, DataType.STRING, DataType.INT16));
    try (Table table = new RandomTables(random.random(), 0.1).generate(schema, 5_000, device)) {
      assertSameAsHost(table, List.of(0), partitions, HashFunction.MURMUR3_32);
    }
  }

  @Test
  void structKeysAreHashedLeafByLeaf() {
    List<DataType> structs =
        List.of(
            DataType.struct(
                Field.of("a", DataType.INT32),
                Field.of(
                    "b",
                    DataType.struct(
                        Field.of("c", DataType.STRING), Field.of("d", DataType.timestamp(9))))),
            DataType.INT64);
    Schema schema = DataTypes.schema(structs);
    for (double nullProbability : new double[] {0, 0.3}) {
      RandomTables tables = new RandomTables(random.random(), nullProbability);
      try (Table table = tables.generateSliced(schema, 700, device)) {
        assertSameAsHost(table, List.of(0), 16, HashFunction.MURMUR3_32);
        assertSameAsHost(table, List.of(1, 0), 16, HashFunction.MURMUR3_32);
      }
    }
  }

  @Test
  void slicesAndManyColumns() {
    List<DataType> types = new ArrayList<>(DataTypes.flat());
    for (int i = 0; i < 60; i++) {
      types.add(DataType.INT32);
    }
    Schema schema = DataTypes.schema(types);
    RandomTables tables = new RandomTables(random.random(), 0.3);
    try (Table table = tables.generateSliced(schema, 1_237, device)) {
      List<Integer> keys = IntStream.range(0, 12).boxed().toList();
      assertSameAsHost(table, keys, 65, HashFunction.MURMUR3_32);
      assertSameAsHost(table, keys, 65, HashFunction.FLINK_BINARY_ROW);
    }
  }

  // Compares the device with plain Java; on the host only the invariants are checked.
  private void assertSameAsHost(
      Table table, List<Integer> keys, int partitions, HashFunction function) {
    PartitionAssigner numbering = PartitionAssigner.modulo(partitions);
    try (PartitionedTable ours = partition(table, keys, numbering, function);
        Table host = device.copyToHost(table);
        PartitionedTable twin =
            HashPartition.hashPartition(
                host, keys, numbering, function, device.hostStream(), device.hostMemory())) {
      assertThat(ours.offsets()).isEqualTo(twin.offsets());
      assertThat(ours.partitionCount()).isEqualTo(partitions);
      assertThat(ours.offsets()[partitions]).isEqualTo(table.rowCount());
      List<List<Object>> rows = device.rows(ours.table());
      assertThat(rows).isEqualTo(device.rows(twin.table()));
      assertThat(counts(rows)).isEqualTo(counts(device.rows(table)));
    }
  }

  private static Map<List<Object>, Long> counts(List<List<Object>> rows) {
    return rows.stream().collect(Collectors.groupingBy(row -> row, Collectors.counting()));
  }

  private PartitionedTable partition(
      Table table, List<Integer> keys, PartitionAssigner numbering, HashFunction function) {
    return device.assertLaunches(
        table.rowCount() > 0 ? 1 : 0,
        () ->
            HashPartition.hashPartition(
                table, keys, numbering, function, device.stream(), device.memory()));
  }

  @Test
  void javaHashesAreThoseOfJavasObjects() {
    for (DataType type : DataTypes.flat()) {
      Schema schema = DataTypes.schema(List.of(type, DataType.INT16));
      RandomTables tables = new RandomTables(random.random(), 0.2);
      PartitionAssigner numbering = PartitionAssigner.keyGroups(32_768);
      try (Table table = tables.generateSliced(schema, 2_500, device);
          PartitionedTable ours =
              partition(table, List.of(0), numbering, HashFunction.FLINK_JAVA)) {
        List<Integer> partitionOf =
            device.rows(table).stream()
                .map(row -> numbering.partition(JavaHashes.of(row.get(0))))
                .toList();
        assertThat(ours.offsets())
            .as(type.toString())
            .isEqualTo(Partitions.offsets(partitionOf, 32_768));
      }
    }
  }

  @Test
  void partitionsAreSlices() {
    try (Table table = new TableBuilder().column("k", DataType.INT32, 3, 0, 7, 1).build(device);
        PartitionedTable partitioned =
            partition(table, List.of(0), PartitionAssigner.modulo(4), HashFunction.IDENTITY);
        Table last = partitioned.partition(3)) {
      assertThat(partitioned.offsets()).containsExactly(0, 1, 2, 2, 4);
      assertThat(device.rows(last)).containsExactly(List.of(3), List.of(7));
      assertThat(partitioned.rowCount(2)).isZero();
    }
  }

  @Test
  void badKeysAreRefused() {
    try (Table table =
        new TableBuilder()
            .column("k", DataType.INT32, 1)
            .column("l", DataType.list(DataType.INT32), List.of(1))
            .column("t", DataType.timestamp(3), (Object) null)
            .column("s", DataType.struct(Field.of("i", DataType.INT32)), (Object) null)
            .build(device)) {
      assertRefused(table, List.of(4), HashFunction.MURMUR3_32, IndexOutOfBoundsException.class);
      assertRefused(table, List.of(-1), HashFunction.MURMUR3_32, IndexOutOfBoundsException.class);
      assertRefused(table, List.of(), HashFunction.MURMUR3_32, IllegalArgumentException.class);
      assertRefused(table, List.of(1), HashFunction.MURMUR3_32, IllegalArgumentException.class);
      assertRefused(table, List.of(2), HashFunction.IDENTITY, IllegalArgumentException.class);
      assertRefused(table, List.of(3), HashFunction.FLINK_JAVA, IllegalArgumentException.class);
      Integer[] tooMany = new Integer[17];
      Arrays.fill(tooMany, 0);
      assertRefused(
          table, List.of(tooMany), HashFunction.MURMUR3_32, IllegalArgumentException.class);
    }
  }

  private void assertRefused(
      Table table, List<Integer> keys, HashFunction function, Class<? extends Exception> error) {
    assertThatThrownBy(() -> partition(table, keys, PartitionAssigner.modulo(2), function))
        .isInstanceOf(error);
  }

  @Test
  void numberingsDivideExactly() {
    int[] hashes = random.random().ints(2_000).toArray();
    System.arraycopy(new int[] {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}, 0, hashes, 0, 5);
    int largest = PartitionAssigner.MAX_PARTITIONS;
    for (int partitions : new int[] {1, 2, 3, 7, 64, 65, 1_000_003, largest}) {
      PartitionAssigner numbering = PartitionAssigner.modulo(partitions);
      for (int hash : hashes) {
        assertThat(numbering.partition(hash))
            .isEqualTo(Integer.remainderUnsigned(hash, partitions));
      }
    }
    for (int keyGroups : new int[] {1, 2, 3, 100, 128, 32_767, 32_768}) {
      int subtasks = (keyGroups + 1) / 2;
      for (int hash : hashes) {
        assertThat(PartitionAssigner.subtasks(keyGroups, subtasks).partition(hash))
            .isEqualTo(
                PartitionAssigner.keyGroups(keyGroups).partition(hash) * subtasks / keyGroups);
      }
    }
  }

  @Test
  void numberingsAreChecked() {
    assertThatThrownBy(() -> PartitionAssigner.modulo(0))
        .hasMessage("expected at least 1 partition, got 0");
    assertThatThrownBy(() -> PartitionAssigner.modulo(Integer.MAX_VALUE))
        .hasMessage("expected at most 2147483638 partitions, got 2147483647");
    assertThatThrownBy(() -> PartitionAssigner.keyGroups(32769))
        .hasMessage("expected a maximum parallelism from 1 to 32768, got 32769");
    assertThatThrownBy(() -> PartitionAssigner.subtasks(128, 129))
        .hasMessage("expected a parallelism from 1 to 128, the maximum parallelism, got 129");
  }

  @Test
  void structuresHaveTheFieldsOfTheKernels() {
    CudaStructures cuda = CudaStructures.ofSources();
    for (KernelStructure layout :
        List.of(
            PartitionArguments.KeyColumn.LAYOUT,
            PartitionArguments.RuleFields.LAYOUT,
            PartitionArguments.MovedColumn.LAYOUT,
            PartitionArguments.LAYOUT,
            MultiPassPartition.OffsetsArguments.LAYOUT,
            RoundRobinKernels.Arguments.LAYOUT)) {
      assertThat(layout.fields()).isEqualTo(cuda.layout(layout.name()).fields());
    }
  }

  @Test
  void structuresHaveTheSizesThatTheKernelsExpect() {
    if (device.isCuda()) {
      assertThat(size("partition", "PartitionArguments"))
          .isEqualTo(PartitionArguments.LAYOUT.bytes());
      assertThat(size("partition", "SortedOffsetsArguments"))
          .isEqualTo(MultiPassPartition.OffsetsArguments.LAYOUT.bytes());
      assertThat(size("round_robin_partition", "RoundRobinArguments"))
          .isEqualTo(RoundRobinKernels.Arguments.LAYOUT.bytes());
      assertThat(size("gather", "GatherArguments"))
          .isEqualTo(GatherKernels.Arguments.LAYOUT.bytes());
      assertThat(size("gather", "GatherRunsArguments"))
          .isEqualTo(GatherKernels.RunsArguments.LAYOUT.bytes());
    }
  }

  private int size(String module, String structure) {
    return device.device().loadModule(module).constant("sizeof_" + structure);
  }
}
