// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.transfer.DownloadQueue;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.data.writer.BinaryRowWriter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NothingHeldExtension.class)
class KeyGroupSplitterTest {
  private static final int ROWS = 700;
  private static final int KEY_GROUPS = 128;
  private static final int MAX_BYTES = 1 << 20;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private DeviceContext context;

  @BeforeEach
  void open() {
    context = DeviceContext.open(device.device());
  }

  @AfterEach
  void close() {
    context.close();
  }

  private static Schema schema(DataType... keys) {
    List<Field> fields = new ArrayList<>();
    for (int i = 0; i < keys.length; i++) {
      fields.add(new Field("key" + i, keys[i], keys.length > 1));
    }
    fields.add(Field.of("payload", DataType.STRING));
    return new Schema(fields);
  }

  private List<List<Object>> randomRows(Schema schema) {
    return new RandomTables(random.random(), 0.2).rows(schema, ROWS);
  }

  /** The rows of each target or key group, in the order in which they were handed out. */
  private Map<Integer, List<List<Object>>> split(
      Schema schema,
      List<List<Object>> rows,
      TableSplitter.Factory factory,
      ExchangeTarget target) {
    Map<Integer, List<List<Object>>> parts = new TreeMap<>();
    split(
        schema,
        rows,
        factory.create(context, target),
        (part, bytes) -> {
          int partition = part.target() == ColumnBatch.NONE ? part.keyGroup() : part.target();
          parts
              .computeIfAbsent(partition, key -> new ArrayList<>())
              .addAll(device.rows(part.table()));
          part.release();
        });
    return parts;
  }

  private void split(
      Schema schema, List<List<Object>> rows, TableSplitter splitter, TableSplitter.Output output) {
    ColumnBatch batch = new ColumnBatch(TableBuilder.ofRows(schema, rows).build(device));
    try (DownloadQueue downloads = new DownloadQueue(context, 2)) {
      splitter.split(batch, downloads, output);
      downloads.drain();
    } finally {
      batch.release();
    }
  }

  private static Map<Integer, List<List<Object>>> expected(
      List<List<Object>> rows, Function<List<Object>, Integer> partition) {
    Map<Integer, List<List<Object>>> parts = new TreeMap<>();
    for (List<Object> row : rows) {
      parts.computeIfAbsent(partition.apply(row), key -> new ArrayList<>()).add(row);
    }
    return parts;
  }

  private void assertSplitsLikeFlink(
      Schema schema, List<Integer> keys, HashFunction hash, Function<List<Object>, Object> key) {
    List<List<Object>> rows = randomRows(schema);
    for (int subtasks : new int[] {2, 3, 7, KEY_GROUPS}) {
      ExchangeTarget target = new ExchangeTarget(subtasks, KEY_GROUPS);
      assertThat(
              split(schema, rows, KeyGroupSplitter.factory(keys, hash, false, MAX_BYTES), target))
          .isEqualTo(
              expected(
                  rows,
                  row ->
                      KeyGroupRangeAssignment.assignKeyToParallelOperator(
                          key.apply(row), KEY_GROUPS, subtasks)));
    }
    assertThat(
            split(
                schema,
                rows,
                KeyGroupSplitter.factory(keys, hash, true, MAX_BYTES),
                new ExchangeTarget(3, KEY_GROUPS)))
        .isEqualTo(
            expected(
                rows, row -> KeyGroupRangeAssignment.assignToKeyGroup(key.apply(row), KEY_GROUPS)));
  }

  @OutOfMemoryTest(attempts = 3)
  void javaKeysGoWhereFlinksKeyByWouldSendThem() {
    for (DataType type : List.of(DataType.INT32, DataType.INT64, DataType.STRING)) {
      assertSplitsLikeFlink(schema(type), List.of(0), HashFunction.FLINK_JAVA, row -> row.get(0));
    }
  }

  @OutOfMemoryTest(attempts = 3)
  void rowDataKeysGoWhereFlinkSqlWouldSendThem() {
    assertSplitsLikeFlink(
        schema(DataType.INT64, DataType.STRING, DataType.INT32),
        List.of(0, 1, 2),
        HashFunction.FLINK_BINARY_ROW,
        row -> binaryRow((Long) row.get(0), (String) row.get(1), (Integer) row.get(2)));
  }

  private static BinaryRowData binaryRow(Long first, String second, Integer third) {
    BinaryRowData row = new BinaryRowData(3);
    BinaryRowWriter writer = new BinaryRowWriter(row);
    if (first == null) {
      writer.setNullAt(0);
    } else {
      writer.writeLong(0, first);
    }
    if (second == null) {
      writer.setNullAt(1);
    } else {
      writer.writeString(1, StringData.fromString(second));
    }
    if (third == null) {
      writer.setNullAt(2);
    } else {
      writer.writeInt(2, third);
    }
    writer.complete();
    return row;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneTargetGetsAllRowsInOrder(boolean perKeyGroup) {
    Schema schema = schema(DataType.INT64);
    List<List<Object>> rows = randomRows(schema);
    TableSplitter.Factory factory =
        KeyGroupSplitter.factory(List.of(0), HashFunction.FLINK_JAVA, perKeyGroup, MAX_BYTES);
    ExchangeTarget target = new ExchangeTarget(1, perKeyGroup ? 1 : KEY_GROUPS);
    assertThat(split(schema, rows, factory, target)).isEqualTo(Map.of(0, rows));
  }

  @OutOfMemoryTest
  void partsAreCutByBytes() {
    Schema schema = schema(DataType.INT64);
    int maximumBytes = 4_000;
    List<List<Object>> rows = randomRows(schema);
    List<Long> sizes = new ArrayList<>();
    split(
        schema,
        rows,
        KeyGroupSplitter.factory(List.of(0), HashFunction.FLINK_JAVA, false, maximumBytes)
            .create(context, new ExchangeTarget(2, KEY_GROUPS)),
        (part, bytes) -> {
          sizes.add(bytes);
          part.release();
        });
    assertThat(sizes)
        .hasSizeGreaterThan(3)
        .allSatisfy(bytes -> assertThat(bytes).isLessThanOrEqualTo(maximumBytes));
  }

  @OutOfMemoryTest
  void partitioningRunsOnTheDevice() {
    Schema schema = schema(DataType.INT64);
    List<List<Object>> rows = randomRows(schema);
    TableSplitter.Factory factory =
        KeyGroupSplitter.factory(List.of(0), HashFunction.FLINK_JAVA, false, MAX_BYTES);
    ExchangeTarget target = new ExchangeTarget(2, KEY_GROUPS);
    assertThat(device.assertLaunches(() -> split(schema, rows, factory, target))).hasSize(2);
  }

  @OutOfMemoryTest
  void aFailingOutputLeavesNothing() {
    Schema schema = schema(DataType.INT64);
    TableSplitter splitter =
        KeyGroupSplitter.factory(List.of(0), HashFunction.FLINK_JAVA, true, MAX_BYTES)
            .create(context, new ExchangeTarget(2, KEY_GROUPS));
    assertThatThrownBy(
            () ->
                split(
                    schema,
                    randomRows(schema),
                    splitter,
                    (part, bytes) -> {
                      part.release();
                      throw new IllegalStateException("the network is down");
                    }))
        .hasMessage("the network is down");
  }
}
