// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.StagingRequests;
import io.millrace.kernel.cast.Cast;
import io.millrace.kernel.concatenate.Concatenate;
import io.millrace.kernel.gather.Gather;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.Partition;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.kernel.partition.RoundRobinPartition;
import io.millrace.kernel.slice.TimeSlices;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whichever of an operation's requests for memory is refused, of the device's or of staging memory,
 * the operation leaves nothing behind and its input as it was.
 */
class RefusedMemoryTest {
  private static final int ROWS = 100;
  private static final Schema SCHEMA = schema();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final AtomicInteger requests = new AtomicInteger();
  private int refused;

  /** Makes a table of another, whose last column has a permutation of the row numbers. */
  @FunctionalInterface
  interface Operation {
    Table apply(Table input, DeviceStream stream, MemoryResource memory);
  }

  private static Schema schema() {
    List<Field> fields = new ArrayList<>(DataTypes.schema(DataTypes.all()).fields());
    fields.add(new Field("row", DataType.INT32, false));
    return new Schema(fields);
  }

  // At least the buffers of the output are requested.
  static Stream<Arguments> operations() {
    return Stream.of(
        Arguments.of("copy", 40, (Operation) (input, s, m) -> input.copyTo(m, s, s)),
        Arguments.of("cast", 1, (Operation) RefusedMemoryTest::cast),
        Arguments.of("concatenate", 20, (Operation) RefusedMemoryTest::concatenate),
        Arguments.of("slice numbers", 1, (Operation) RefusedMemoryTest::sliceNumbers),
        Arguments.of(
            "gather",
            40,
            (Operation) (input, s, m) -> Gather.gather(input, rowNumbers(input), s, m)),
        Arguments.of(
            "partition",
            40,
            (Operation)
                (input, s, m) -> table(Partition.partition(input, rowNumbers(input), ROWS, s, m))),
        Arguments.of("hash partition", 40, (Operation) (input, s, m) -> hash(input, 3, s, m)),
        Arguments.of(
            "hash partition into many", 40, (Operation) (input, s, m) -> hash(input, 5_000, s, m)),
        Arguments.of(
            "round robin partition",
            40,
            (Operation)
                (input, s, m) ->
                    table(RoundRobinPartition.roundRobinPartition(input, 3, 1, s, m))));
  }

  private static Column rowNumbers(Table input) {
    return input.column("row");
  }

  private static Table cast(Table input, DeviceStream stream, MemoryResource memory) {
    Column cast = Cast.cast(rowNumbers(input), DataType.FLOAT64, stream, memory);
    return new Table(
        Schema.of(new Field("row", DataType.FLOAT64, false)), List.of(cast), input.rowCount());
  }

  private static Table concatenate(Table input, DeviceStream stream, MemoryResource memory) {
    List<String> names =
        SCHEMA.fields().stream()
            .filter(field -> field.type().id().isScalar())
            .map(Field::name)
            .toList();
    try (Table scalars = input.select(names)) {
      return Concatenate.concatenate(scalars.schema(), List.of(scalars, scalars), stream, memory);
    }
  }

  private static Table sliceNumbers(Table input, DeviceStream stream, MemoryResource memory) {
    try (Column times = times(input, stream, memory)) {
      long first = TimeSlices.range(times, stream, memory).first();
      Column numbers = TimeSlices.numbers(times, first, 7, stream, memory);
      return new Table(
          Schema.of(new Field("slice", DataType.INT32, false)), List.of(numbers), input.rowCount());
    }
  }

  // The row numbers as milliseconds.
  private static Column times(Table input, DeviceStream stream, MemoryResource memory) {
    try (Column millis = Cast.cast(rowNumbers(input), DataType.INT64, stream, memory)) {
      return new Column(
          DataType.timestamp(3),
          millis.size(),
          millis.offset(),
          millis.data().orElseThrow().share(),
          null,
          List.of());
    }
  }

  private static Table hash(
      Table input, int partitions, DeviceStream stream, MemoryResource memory) {
    List<Integer> keys = List.of(SCHEMA.indexOf("row"));
    return table(
        HashPartition.hashPartition(
            input, keys, partitions, HashFunction.MURMUR3_32, stream, memory));
  }

  private static Table table(PartitionedTable partitioned) {
    try (partitioned) {
      return partitioned.table().share();
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("operations")
  void eachRefusalLeavesNothing(String name, int fewestRequests, Operation operation) {
    StagingRequests.listen(device.device().stagingPool(), this::requestStaging);
    MemoryResource memory = new FailingResourceAdaptor(device.memory(), (n, bytes) -> isRefused());
    List<List<Object>> rows = rows();
    List<List<Object>> expected = run(rows, operation, memory, 0);
    int all = requests.get();
    assertThat(all).isGreaterThanOrEqualTo(fewestRequests);
    for (int number = 1; number <= all; number++) {
      assertRefused(rows, operation, memory, number);
    }
    assertThat(run(rows, operation, memory, 0)).isEqualTo(expected);
  }

  @AfterEach
  void refuseNoMore() {
    StagingRequests.ignore(device.device().stagingPool());
  }

  private boolean isRefused() {
    return requests.incrementAndGet() == refused;
  }

  private void requestStaging(long bytes) {
    if (isRefused()) {
      throw new GpuOutOfMemoryException("no staging memory");
    }
  }

  private List<List<Object>> rows() {
    List<List<Object>> rows = new RandomTables(random.random(), 0.2).rows(SCHEMA, ROWS);
    int last = SCHEMA.size() - 1;
    for (int row = 0; row < ROWS; row++) {
      rows.get(row).set(last, ROWS - 1 - row);
    }
    return rows;
  }

  private List<List<Object>> run(
      List<List<Object>> rows, Operation operation, MemoryResource memory, int number) {
    try (Table input = TableBuilder.ofRows(SCHEMA, rows).build(device)) {
      requests.set(0);
      refused = number;
      try (Table output = operation.apply(input, device.stream(), memory)) {
        refused = 0;
        return device.rows(output);
      }
    }
  }

  private void assertRefused(
      List<List<Object>> rows, Operation operation, MemoryResource memory, int number) {
    try (Table input = TableBuilder.ofRows(SCHEMA, rows).build(device)) {
      long held = device.heldBytes();
      requests.set(0);
      refused = number;
      assertThatThrownBy(() -> operation.apply(input, device.stream(), memory))
          .as("request %s", number)
          .isInstanceOf(GpuOutOfMemoryException.class);
      refused = 0;
      assertThat(device.heldBytes()).as("after request %s", number).isEqualTo(held);
      assertThat(device.rows(input)).isEqualTo(rows);
    }
  }
}
