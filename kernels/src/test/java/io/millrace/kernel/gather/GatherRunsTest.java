// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Strings and lists: their bytes, their sizes, and the ends of memory. */
class GatherRunsTest {
  private static final int LARGE = 1 << 16;
  // Beyond these the kernels take larger tiles, and take tiles in turns.
  private static final int ROWS_IN_LARGE_TILES = (1 << 18) + 77;
  private static final int ROWS_IN_STRIPES = (1 << 20) + 77;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  // ---- sizes ----

  @Test
  void repeatedStringsOfMoreThanAColumnHoldsAreRefused() {
    try (Table strings =
            new TableBuilder().column("text", DataType.STRING, "x".repeat(LARGE)).build(device);
        Table map = map(Collections.nCopies(65_552, 0))) {
      assertThatThrownBy(() -> repeated(strings, map))
          .isInstanceOf(GpuOutOfMemoryException.class)
          .hasMessage("a column holds at most 2 Gi bytes or elements");
    }
  }

  @Test
  void repeatedListsOfMoreThanAColumnHoldsAreRefused() {
    try (Table lists =
            new TableBuilder()
                .column("list", DataType.list(DataType.INT8), Collections.nCopies(LARGE, 1))
                .build(device);
        Table map = map(Collections.nCopies(65_552, 0))) {
      assertThatThrownBy(() -> repeated(lists, map))
          .isInstanceOf(GpuOutOfMemoryException.class)
          .hasMessage("a column holds at most 2 Gi bytes or elements");
    }
  }

  @ParameterizedTest
  @ValueSource(
      longs = {
        0,
        1,
        Integer.MAX_VALUE,
        1L << 31,
        (1L << 32) - 1,
        1L << 32,
        (1L << 32) + (1 << 20),
        5L << 30,
        (1L << 33) + 3
      })
  void sizesAreCountedIn64Bits(long total) {
    List<Integer> rows = new ArrayList<>(Collections.nCopies((int) (total / LARGE), 0));
    rows.add(1);
    rows.add(-1);
    try (Table strings =
            new TableBuilder()
                .column(
                    "text", DataType.STRING, "x".repeat(LARGE), "y".repeat((int) (total % LARGE)))
                .build(device);
        Table map = map(rows);
        AccessScope scope = AccessScope.on(device.stream())) {
      RowGather gather = Gather.IMPLEMENTATIONS.of(device.stream().device());
      long mapAddress = address(map.column(0), scope);
      RepeatedGather runs =
          new RepeatedGather(gather, mapAddress, rows.size(), scope, device.memory());
      long offsets = address(strings.column(0).child(0), scope);
      if (total <= Integer.MAX_VALUE) {
        assertThat(runs.count(offsets)).isEqualTo((int) total);
      } else {
        assertThatThrownBy(() -> runs.count(offsets)).isInstanceOf(GpuOutOfMemoryException.class);
      }
    }
  }

  @Test
  void argumentsHaveTheFieldsOfTheKernels() {
    CudaStructures cuda = CudaStructures.ofSources();
    for (KernelStructure layout :
        List.of(
            GatherKernels.BufferFields.LAYOUT,
            GatherKernels.Arguments.LAYOUT,
            GatherKernels.RunsArguments.LAYOUT)) {
      assertThat(layout.fields()).isEqualTo(cuda.layout(layout.name()).fields());
    }
  }

  private static long address(Column column, AccessScope scope) {
    return column.data().orElseThrow().access(AccessMode.READ, scope);
  }

  @Test
  void whatDoesNotFitIsDroppedOnAGpu() {
    assumeTrue(device.isCuda(), "the host refuses such a map");
    for (int rows : new int[] {5_000, ROWS_IN_LARGE_TILES}) {
      try (Table table =
              new TableBuilder()
                  .column("text", DataType.STRING, "z".repeat(1000), "", "ab")
                  .column("list", DataType.list(DataType.INT8), List.of(1, 2, 3), List.of(), null)
                  .build(device);
          Table map = map(IntStream.range(0, rows).map(row -> row % 3).boxed().toList());
          Table gathered = gather(table, map);
          Table host = device.copyToHost(gathered);
          AccessScope scope = AccessScope.on(device.hostStream())) {
        ColumnReader texts = new ColumnReader(host.column(0), scope);
        assertThat(texts.getOffset(rows)).isEqualTo(1002);
        assertThat(texts.getBytes(0)).containsOnly('z');
        assertThat(new ColumnReader(host.column(1), scope).getOffset(rows)).isEqualTo(3);
      }
    }
  }

  @Test
  void aBufferMayBeLongerThanOffsetsReach() {
    byte[] bytes = "abcdefgh".getBytes(StandardCharsets.UTF_8);
    try (Table offsets =
            new TableBuilder()
                .column(new Field("offsets", DataType.INT32, false), List.of(0, 3, 8))
                .build(device);
        Table map = map(List.of(1, 0))) {
      Buffer data = Buffer.allocate(3L << 30, device.stream(), device.fixedMemory());
      long staging = HostMemory.allocate(bytes.length);
      try (AccessScope scope = AccessScope.on(device.stream())) {
        HostMemory.copyFromArray(staging, bytes, 0, bytes.length);
        device.stream().copy(data.access(AccessMode.WRITE, scope), staging, bytes.length);
        Column text =
            new Column(DataType.STRING, 2, 0, data, null, List.of(offsets.column(0).share()));
        try (Table table =
                new Table(Schema.of(new Field("text", DataType.STRING, false)), List.of(text), 2);
            Table gathered = gather(table, map)) {
          Buffer output = gathered.column(0).data().orElseThrow();
          assertThat(output.size()).isEqualTo(Integer.MAX_VALUE);
          device.stream().copy(staging, output.access(AccessMode.READ, scope), bytes.length);
          device.stream().synchronize();
          byte[] first = new byte[bytes.length];
          for (int i = 0; i < first.length; i++) {
            first[i] = HostMemory.getByte(staging + i);
          }
          assertThat(first).asString().isEqualTo("defghabc");
        }
      } finally {
        device.stream().synchronize();
        HostMemory.free(staging);
      }
    }
  }

  // ---- bytes ----

  static Stream<List<Integer>> lengths() {
    return Stream.of(
        List.of(0),
        List.of(1),
        List.of(10, 5, 20, 0, 7),
        List.of(16),
        List.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 3),
        List.of(8, 64, 0, 1),
        List.of(3000, 1, 0, 17));
  }

  @ParameterizedTest
  @MethodSource("lengths")
  void stringsOfAnyLengthsMoveByteByByte(List<Integer> lengths) {
    for (int rows : new int[] {1, 255, 257, 2_500}) {
      List<Integer> map = permutation(rows);
      if (rows > 1) {
        map.set(rows / 2, -1);
      }
      try (Table table = texts(rows, lengths);
          Table slice = table.slice(rows / 3, rows - rows / 3)) {
        assertGathered(table, map);
        List<Integer> within = permutation(slice.rowCount());
        assertGathered(slice, within);
        assertGathered(slice, within.subList(0, within.size() / 2));
      }
    }
  }

  @Test
  void manyTiles() {
    try (Table table = texts(ROWS_IN_LARGE_TILES, List.of(10, 5, 20, 0, 7))) {
      assertGathered(table, permutation(ROWS_IN_LARGE_TILES));
    }
  }

  @Test
  void aFewLongStrings() {
    try (Table table = texts(40, List.of(100_000, 3, 250_001, 0))) {
      assertGathered(table, permutation(40));
    }
  }

  private static String text(int row, List<Integer> lengths) {
    int length = lengths.get(row % lengths.size());
    return row % 11 == 5
        ? null
        : IntStream.range(0, length)
            .map(i -> 'a' + (row * 31 + i * 7 + i / 26) % 26)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
  }

  private Table texts(int rows, List<Integer> lengths) {
    List<String> texts = IntStream.range(0, rows).mapToObj(row -> text(row, lengths)).toList();
    return new TableBuilder().column(Field.of("text", DataType.STRING), texts).build(device);
  }

  private List<Integer> permutation(int rows) {
    List<Integer> map = new ArrayList<>(IntStream.range(0, rows).boxed().toList());
    Collections.shuffle(map, random.random());
    return map;
  }

  private void assertGathered(Table table, List<Integer> rows) {
    List<Object> texts = TableRows.of(table.column(0), device);
    List<Object> expected = rows.stream().map(row -> row < 0 ? null : texts.get(row)).toList();
    try (Table map = map(rows);
        Table gathered = gather(table, map)) {
      assertThat(TableRows.of(gathered.column(0), device)).isEqualTo(expected);
    }
  }

  // ---- partitioning ----

  @ParameterizedTest
  @ValueSource(ints = {7, 64})
  void partitionsOfManyStringsAndLists(int partitions) {
    List<Integer> lengths = List.of(10, 5, 20, 0, 7);
    int rows = ROWS_IN_STRIPES;
    List<String> texts = IntStream.range(0, rows).mapToObj(row -> text(row, lengths)).toList();
    List<Integer> numbers = IntStream.range(0, rows).boxed().toList();
    List<List<Integer>> lists =
        IntStream.range(0, rows).mapToObj(row -> numbers.subList(0, row % 3)).toList();
    try (Table table =
            new TableBuilder()
                .column(Field.of("text", DataType.STRING), texts)
                .column(new Field("number", DataType.INT32, false), numbers)
                .column(Field.of("list", DataType.list(DataType.INT32)), lists)
                .build(device);
        PartitionedTable ours = partition(table, partitions);
        Table host = device.copyToHost(table);
        PartitionedTable twin =
            HashPartition.hashPartition(
                host,
                List.of(0),
                partitions,
                HashFunction.MURMUR3_32,
                device.hostStream(),
                device.hostMemory())) {
      assertThat(ours.offsets()).isEqualTo(twin.offsets());
      List<Object> order = TableRows.of(ours.table().column(1), device);
      assertThat(order).isEqualTo(TableRows.of(twin.table().column(1), device));
      assertThat(TableRows.of(ours.table().column(0), device))
          .isEqualTo(order.stream().map(row -> texts.get((Integer) row)).toList());
      assertThat(TableRows.of(ours.table().column(2), device))
          .isEqualTo(order.stream().map(row -> lists.get((Integer) row)).toList());
    }
  }

  private PartitionedTable partition(Table table, int partitions) {
    return device.assertLaunches(
        1,
        () ->
            HashPartition.hashPartition(
                table,
                List.of(0),
                partitions,
                HashFunction.MURMUR3_32,
                device.stream(),
                device.memory()));
  }

  // ---- the ends of memory ----

  /** Foreign memory may begin and end at any address: bytes next to it must not be read. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8})
  void bytesMayBeginAndEndAnywhere(int lead) {
    List<String> texts =
        List.of("Zürich", "", "abcdefgh", "a", "€uro and 😀 more", "0123456789", "xyz");
    List<List<Object>> expected = texts.stream().map(text -> List.<Object>of(text)).toList();
    byte[] bytes = String.join("", texts).getBytes(StandardCharsets.UTF_8);
    for (DataType type : List.of(DataType.STRING, DataType.BINARY)) {
      try (Table table = unaligned(type, texts, bytes, lead);
          Table map = map(List.of(6, 5, 4, 3, 2, 1, 0));
          Table gathered = gather(table, map);
          Table back = gather(gathered, map)) {
        assertThat(device.rows(back)).isEqualTo(device.rows(table));
        if (type.equals(DataType.STRING)) {
          assertThat(device.rows(table)).isEqualTo(expected);
        }
        assertHashedAsOnHost(table);
      }
    }
  }

  private Table unaligned(DataType type, List<String> texts, byte[] bytes, int lead) {
    List<Integer> offsets = new ArrayList<>(List.of(0));
    texts.forEach(
        text ->
            offsets.add(
                offsets.get(offsets.size() - 1) + text.getBytes(StandardCharsets.UTF_8).length));
    long staging = HostMemory.allocate(lead + bytes.length);
    HostMemory.copyFromArray(staging + lead, bytes, 0, bytes.length);
    try (Table column =
            new TableBuilder()
                .column(new Field("offsets", DataType.INT32, false), offsets)
                .build(device);
        Buffer whole =
            Buffer.copyOf(staging, lead + bytes.length, device.stream(), device.memory())) {
      device.stream().synchronize();
      Column text =
          new Column(
              type,
              texts.size(),
              0,
              whole.slice(lead, bytes.length),
              null,
              List.of(column.column(0).share()));
      return new Table(Schema.of(new Field("text", type, false)), List.of(text), texts.size());
    } finally {
      HostMemory.free(staging);
    }
  }

  private void assertHashedAsOnHost(Table table) {
    DataType type = table.column(0).type();
    try (Table host = device.copyToHost(table)) {
      for (HashFunction function :
          List.of(
              HashFunction.murmur3(5), HashFunction.FLINK_JAVA, HashFunction.FLINK_BINARY_ROW)) {
        if (function.supports(type)) {
          try (PartitionedTable ours =
                  HashPartition.hashPartition(
                      table, List.of(0), 512, function, device.stream(), device.memory());
              PartitionedTable twin =
                  HashPartition.hashPartition(
                      host, List.of(0), 512, function, device.hostStream(), device.hostMemory())) {
            assertThat(ours.offsets()).isEqualTo(twin.offsets());
            assertThat(device.rows(ours.table())).isEqualTo(device.rows(twin.table()));
          }
        }
      }
    }
  }

  private Table map(List<Integer> rows) {
    return new TableBuilder().column(new Field("map", DataType.INT32, false), rows).build(device);
  }

  private Table gather(Table table, Table map) {
    if (map.rowCount() == 0) {
      return Gather.gather(table, map.column(0), device.stream(), device.memory());
    }
    return device.assertLaunches(
        () -> Gather.gather(table, map.column(0), device.stream(), device.memory()));
  }

  private Table repeated(Table table, Table map) {
    return Gather.gatherRepeated(table, map.column(0), device.stream(), device.memory());
  }
}
