// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionAssigner;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RowCollector;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.InvalidProgramException;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamUtils;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows go where Flink's own keyBy sends the values that {@code toRows()} gives. */
@ExtendWith(NothingHeldExtension.class)
class KeyByTest {
  private static final int ROWS = 1_500;
  private static final int KEY_GROUPS = 128;

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  static Stream<DataType> types() {
    return Stream.concat(
        DataTypes.flat().stream(),
        Stream.of(
            DataType.decimal(10, 2),
            DataType.decimal(18, 18),
            DataType.decimal(19, 0),
            DataType.decimal(38, 38),
            DataType.timestamp(0),
            DataType.timestamp(7, true)));
  }

  @ParameterizedTest
  @MethodSource("types")
  void aKeyOfOneColumnIsRoutedAsItsValue(DataType type) {
    Schema schema = Schema.of(Field.of("key", type), Field.of("payload", DataType.STRING));
    List<Object> keys = new ArrayList<>(edges(type));
    RandomTables values = new RandomTables(random.random(), 0);
    IntStream.range(0, ROWS).forEach(i -> keys.add(values.value(type)));
    keys.add(null);
    keys.add(null);
    List<List<Object>> rows = keys.stream().map(key -> Arrays.asList(key, "x")).toList();
    assertRoutedLikeFlink(schema, rows, 1, row -> row.getField(0));
  }

  @Test
  void severalColumnsGoWhereTheirTupleGoes() {
    List<DataType> types = DataTypes.flat().stream().filter(KeyByTest::isKeyOfFlink).toList();
    RandomTables values = new RandomTables(random.random(), 0.2);
    for (int first = 0; first < types.size(); first++) {
      int columns = 2 + first % 4;
      List<DataType> chosen = new ArrayList<>(types);
      Collections.rotate(chosen, first);
      Schema schema = DataTypes.schema(chosen.subList(0, columns));
      assertRoutedLikeFlink(schema, values.rows(schema, 300), columns, row -> tuple(row, columns));
    }
  }

  private static boolean isKeyOfFlink(DataType type) {
    return !type.equals(DataType.BINARY);
  }

  private static Tuple tuple(Row row, int arity) {
    Tuple tuple = Tuple.newInstance(arity);
    for (int i = 0; i < arity; i++) {
      tuple.setField(row.getField(i), i);
    }
    return tuple;
  }

  /** Values at the ends of a type and around zero, 1970 and the words of a number. */
  private static List<Object> edges(DataType type) {
    return switch (type.id()) {
      case DECIMAL32, DECIMAL64, DECIMAL128 -> decimals(type);
      case DATE ->
          Stream.of(Integer.MIN_VALUE, -719_529, -719_528, -141_428, -1, 0, 59, Integer.MAX_VALUE)
              .<Object>map(LocalDate::ofEpochDay)
              .toList();
      case TIME -> List.of(LocalTime.MIN, LocalTime.of(23, 59, 59, 999_000_000));
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS ->
          type.withTimeZone() ? instants() : times();
      default -> List.of();
    };
  }

  private static List<Object> instants() {
    return Stream.of(-62_135_596_800_000L, -1L, 0L, 1L, 999L, 1_000L, 253_402_300_799_999L)
        .<Object>map(Instant::ofEpochMilli)
        .toList();
  }

  private static List<Object> times() {
    return Stream.of("0001-01-01T00:00", "1582-10-04T23:59:59.999", "1969-12-31T23:59:59.999")
        .<Object>map(LocalDateTime::parse)
        .toList();
  }

  private static List<Object> decimals(DataType type) {
    BigInteger largest = BigInteger.TEN.pow(type.precision()).subtract(BigInteger.ONE);
    return Stream.of("0", "1", "10", "100", "4294967296", "9223372036854775808", "1e19", "1e20")
        .map(text -> new BigDecimal(text).toBigInteger().min(largest))
        .flatMap(value -> Stream.of(value, value.negate(), largest.negate()))
        .<Object>map(value -> new BigDecimal(value, type.scale()))
        .toList();
  }

  private void assertRoutedLikeFlink(
      Schema schema, List<List<Object>> rows, int keys, Function<Row, Object> key) {
    List<Integer> columns = IntStream.range(0, keys).boxed().toList();
    List<List<Object>> readable = rows.stream().map(KeyByTest::readable).toList();
    try (Table table = TableBuilder.ofRows(schema, readable).build(device)) {
      for (int subtasks : new int[] {3, KEY_GROUPS}) {
        PartitionAssigner numbering = PartitionAssigner.subtasks(KEY_GROUPS, subtasks);
        try (PartitionedTable partitioned =
            HashPartition.hashPartition(
                table,
                columns,
                numbering,
                HashFunction.FLINK_JAVA,
                device.stream(),
                device.memory())) {
          assertRoutedLikeFlink(partitioned, key);
        }
      }
    }
  }

  private static List<Object> readable(List<Object> row) {
    return row.stream().map(KeyByTest::asRowsHaveIt).toList();
  }

  // toRows() fails, in Flink's own converter, for dates outside of its calendar.
  private static Object asRowsHaveIt(Object value) {
    boolean isOutside =
        value instanceof LocalDate day
            && (day.isBefore(LocalDate.of(-4800, 3, 1)) || day.isAfter(LocalDate.of(99_999, 1, 1)));
    return isOutside ? LocalDate.of(-4800, 3, 1) : value;
  }

  private void assertRoutedLikeFlink(PartitionedTable partitioned, Function<Row, Object> key) {
    try (Table host = device.copyToHost(partitioned.table());
        AccessScope scope = AccessScope.on(device.hostStream())) {
      RowDecoder<Row> rows = new ExternalRowDecoder(host.schema()).decoder(host, scope);
      int subtasks = partitioned.partitionCount();
      for (int subtask = 0; subtask < subtasks; subtask++) {
        int end = partitioned.offsets()[subtask + 1];
        for (int row = partitioned.offsets()[subtask]; row < end; row++) {
          Object value = key.apply(rows.decode(row));
          assertThat(subtask).as("subtask of %s", value).isEqualTo(subtaskOfFlink(value, subtasks));
        }
      }
    }
  }

  // Flink's keyBy refuses null keys, which have the hash 0 here, and arrays.
  private static int subtaskOfFlink(Object key, int subtasks) {
    int hash =
        key instanceof byte[] bytes ? Arrays.hashCode(bytes) : key == null ? 0 : key.hashCode();
    int keyGroup = KeyGroupRangeAssignment.computeKeyGroupForKeyHash(hash, KEY_GROUPS);
    int subtask =
        KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(KEY_GROUPS, subtasks, keyGroup);
    if (key != null && !(key instanceof byte[])) {
      assertThat(subtask)
          .isEqualTo(
              KeyGroupRangeAssignment.assignKeyToParallelOperator(key, KEY_GROUPS, subtasks));
    }
    return subtask;
  }

  @Test
  void flinkRefusesArraysAsKeys() {
    DataStream<byte[]> arrays =
        flink
            .environment(1)
            .fromData(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO, new byte[] {1});
    assertThatThrownBy(() -> arrays.keyBy(bytes -> bytes, arrays.getType()))
        .isInstanceOf(InvalidProgramException.class)
        .hasMessageContaining("cannot be used as key");
  }

  /** Sends the key of each row on; a timer is kept in the key group of its key. */
  private static final class KeysOfRows<K> extends KeyedProcessFunction<K, Row, String> {
    private static final long serialVersionUID = 1L;

    @Override
    public void processElement(Row row, Context context, Collector<String> output) {
      context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
      output.collect(context.getCurrentKey().toString());
    }
  }

  private static final Schema SALES =
      Schema.of(
          new Field("day", DataType.DATE, false),
          new Field("amount", DataType.decimal(10, 2), false));

  private static Row sale(int i) {
    BigDecimal amount = BigDecimal.valueOf(i % 11 - 5, 2);
    return Row.of(LocalDate.of(1960 + i % 23, 1 + i % 12, 1 + i % 28), amount);
  }

  private ColumnStream sales(StreamExecutionEnvironment environment) {
    Row[] rows = IntStream.range(0, 600).mapToObj(KeyByTest::sale).toArray(Row[]::new);
    DataStream<Row> stream = environment.fromData(ExternalRowDecoder.typeInformation(SALES), rows);
    return ColumnStream.from(stream, SALES).batch(BatchOptions.DEFAULT.withRows(64, 64));
  }

  private <K> void assertKeysAreFound(
      ColumnStream keyed, KeySelector<Row, K> key, TypeInformation<K> type) throws Exception {
    DataStream<Row> rows = keyed.toRows();
    RowCollector<String> collector = new RowCollector<>();
    collector.collect(
        DataStreamUtils.reinterpretAsKeyedStream(rows, key, type)
            .process(new KeysOfRows<>())
            .returns(Types.STRING),
        text -> text);
    flink.run(rows.getExecutionEnvironment());
    Map<String, Integer> expected = new HashMap<>();
    for (int i = 0; i < 600; i++) {
      expected.merge(key.getKey(sale(i)).toString(), 1, Integer::sum);
    }
    Map<String, Integer> counts = new HashMap<>();
    collector.rows().forEach(text -> counts.merge(text, 1, Integer::sum));
    assertThat(counts).isEqualTo(expected);
  }

  @Test
  void aKeyedOperatorOfFlinkFindsDatesInItsKeyGroups() throws Exception {
    assertKeysAreFound(
        sales(flink.environment(2)).keyBy("day"),
        row -> (LocalDate) row.getField(0),
        Types.LOCAL_DATE);
  }

  @Test
  void aKeyedOperatorOfFlinkFindsTuplesInItsKeyGroups() throws Exception {
    assertKeysAreFound(
        sales(flink.environment(2)).keyBy("day", "amount"),
        row -> Tuple2.of((LocalDate) row.getField(0), (BigDecimal) row.getField(1)),
        Types.TUPLE(Types.LOCAL_DATE, Types.BIG_DEC));
  }

  @Test
  void explanationsNameTheHashOfTheKey() {
    ColumnStream sales = sales(flink.environment(1));
    assertThat(sales.keyBy("day").explain())
        .endsWith("2. KeyBy(keys=[day], hash=LocalDate.hashCode()) [GPU if there is one]\n");
    assertThat(sales.keyBy("amount", "day").explain())
        .contains("KeyBy(keys=[amount, day], hash=Tuple2<BigDecimal, LocalDate>.hashCode())");
  }
}
