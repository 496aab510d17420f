// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.TableSourceOperator;
import io.millrace.operators.wire.BodyCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NothingHeldExtension.class)
class BatchExchangeTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final Schema SCHEMA =
      Schema.of(
          new Field("key", DataType.INT64, false),
          Field.of("name", DataType.STRING),
          new Field("batch", DataType.INT64, false),
          new Field("row", DataType.INT32, false));
  private static final int ROWS_PER_BATCH = 500;
  private static final int BATCHES = 40;
  private static final int SENDERS = 2;
  private static final int KEY_GROUPS = 32;

  private static List<List<Object>> rows(long batch) {
    List<List<Object>> rows = new ArrayList<>();
    for (int row = 0; row < ROWS_PER_BATCH; row++) {
      long key = (batch * 31 + row * 17L) % 97;
      List<Object> values = new ArrayList<>();
      values.add(key);
      values.add(key % 5 == 0 ? null : "key " + key);
      values.add(batch);
      values.add(row);
      rows.add(values);
    }
    return rows;
  }

  private static List<List<Object>> allRows() {
    return LongStream.range(0, BATCHES).boxed().flatMap(i -> rows(i).stream()).toList();
  }

  private static List<List<Object>> inOrder(List<List<Object>> rows) {
    return rows.stream().sorted(Comparator.comparingLong(BatchExchangeTest::position)).toList();
  }

  private static long position(List<Object> row) {
    return (Long) row.get(2) * ROWS_PER_BATCH + (Integer) row.get(3);
  }

  // The first sender has the lower half of the numbers, in order.
  private static DataStream<ColumnBatch> source(
      StreamExecutionEnvironment environment, long batches) {
    return TableSourceOperator.batches(
        environment.fromSequence(0, batches - 1), SCHEMA, BatchExchangeTest::rows);
  }

  private static DataStream<ColumnBatch> source(StreamExecutionEnvironment environment) {
    return source(environment, BATCHES);
  }

  private static StreamExecutionEnvironment environment() {
    StreamExecutionEnvironment environment = flink.environment(SENDERS);
    environment.setMaxParallelism(KEY_GROUPS);
    return environment;
  }

  @ParameterizedTest
  @CsvSource({
    "1, false, RAW",
    "2, false, RAW",
    "4, false, ZSTD",
    "1, true, ZSTD",
    "2, true, RAW",
    "4, true, RAW"
  })
  void rowsComeToTheOwnersOfTheirKeysInOrder(int receivers, boolean perKeyGroup, BodyCodec codec)
      throws Exception {
    StreamExecutionEnvironment environment = environment();
    BatchExchange exchange =
        BatchExchange.keyBy(source(environment), "key").codec(codec).parallelism(receivers);
    BatchCollector collector = new BatchCollector();
    collector.collect((perKeyGroup ? exchange.perKeyGroup() : exchange).apply());
    flink.run(environment);

    assertThat(inOrder(collector.rows())).isEqualTo(allRows());
    Map<List<Object>, Long> lastOfKey = new HashMap<>();
    for (BatchCollector.Batch batch : collector.batches()) {
      for (List<Object> row : batch.rows()) {
        long key = (Long) row.get(0);
        assertThat(batch.subtask())
            .isEqualTo(
                KeyGroupRangeAssignment.assignKeyToParallelOperator(key, KEY_GROUPS, receivers));
        boolean firstSender = (Long) row.get(2) < BATCHES / SENDERS;
        Long before = lastOfKey.put(List.of(key, firstSender), position(row));
        assertThat(before == null || before < position(row)).isTrue();
      }
    }
  }

  @OutOfMemoryTest(onCluster = true)
  void noRowIsLostBetweenTargetsOrKeyGroups() throws Exception {
    StreamExecutionEnvironment environment = environment();
    DataStream<ColumnBatch> byTarget =
        BatchExchange.keyBy(source(environment), "key").parallelism(2).apply();
    BatchCollector collector = new BatchCollector();
    collector.collect(
        BatchExchange.keyBy(byTarget, "name")
            .codec(BodyCodec.ZSTD)
            .perKeyGroup()
            .parallelism(2)
            .apply());
    flink.run(environment);
    assertThat(inOrder(collector.rows())).isEqualTo(allRows());
  }

  @Test
  void smallPartsAreJoined() throws Exception {
    StreamExecutionEnvironment environment = environment();
    BatchCollector collector = new BatchCollector();
    int rows = 2_000;
    collector.collect(
        BatchExchange.keyBy(source(environment), "key")
            .perKeyGroup()
            .coalesce(CoalesceOptions.DEFAULT.withRows(rows).withDelay(Duration.ofMinutes(1)))
            .parallelism(1)
            .apply());
    flink.run(environment);
    // The first ones are smaller, while nothing is known of the consumer.
    assertThat(collector.batches())
        .hasSizeBetween(2, 20)
        .anySatisfy(batch -> assertThat(batch.rows()).hasSizeBetween(rows, rows + ROWS_PER_BATCH));
  }

  @ParameterizedTest
  @EnumSource(BodyCodec.class)
  void roundRobinSpreadsBatchesAndLosesNone(BodyCodec codec) throws Exception {
    StreamExecutionEnvironment environment = environment();
    BatchCollector collector = new BatchCollector();
    collector.collect(
        BatchExchange.roundRobin(source(environment)).codec(codec).parallelism(3).apply());
    flink.run(environment);
    assertThat(inOrder(collector.rows())).isEqualTo(allRows());
    assertThat(collector.batches()).extracting(BatchCollector.Batch::subtask).contains(0, 1, 2);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCanceledExchangeHoldsNothing(boolean perKeyGroup) throws Exception {
    StreamExecutionEnvironment environment = environment();
    BatchExchange exchange = BatchExchange.keyBy(source(environment, Long.MAX_VALUE), "key");
    BatchCollector collector = new BatchCollector();
    collector.collect((perKeyGroup ? exchange.perKeyGroup() : exchange).apply());
    FlinkJob job = flink.submit(environment);
    job.awaitRunning();
    job.awaitUntil(() -> collector.batches().size() >= 3);
    job.cancel();
  }

  @Test
  void streamsThatCannotBeSentAreRefusedWhenTheJobIsBuilt() {
    StreamExecutionEnvironment environment = environment();
    DataStream<ColumnBatch> batches = source(environment);
    assertThatThrownBy(() -> BatchExchange.keyBy(batches)).hasMessage("a key needs a column");
    assertThatThrownBy(
            () ->
                BatchExchange.keyBy(batches, Collections.nCopies(17, "key").toArray(String[]::new)))
        .hasMessage("a key has at most 16 columns, but this has 17");
    assertThatThrownBy(() -> BatchExchange.roundRobin(batches).keyHash(HashFunction.FLINK_JAVA))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("RoundRobin has no key");
    assertThatThrownBy(() -> BatchExchange.union(List.of(batches, batches)).perKeyGroup())
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("Union has no key");
    assertThatThrownBy(
            () -> BatchExchange.keyBy(batches, "name").keyHash(HashFunction.IDENTITY).apply())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("IDENTITY does not hash column 'name', which is STRING");
    assertThatThrownBy(() -> BatchExchange.keyBy(batches, "kee"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("there is no column 'kee'");
    Schema dictionary = Schema.of(Field.of("word", DataType.dictionary(DataType.STRING)));
    DataStream<ColumnBatch> words =
        TableSourceOperator.batches(
            environment.fromSequence(0, 1), dictionary, number -> List.of());
    assertThatThrownBy(() -> BatchExchange.roundRobin(words))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("column 'word' is DICTIONARY<STRING>: decode it before it is sent");
    DataStream<ColumnBatch> untyped =
        environment
            .fromSequence(0, 1)
            .map(number -> (ColumnBatch) null)
            .returns(TypeInformation.of(ColumnBatch.class));
    assertThatThrownBy(() -> BatchExchange.roundRobin(untyped))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ColumnBatchTypeInformation");
  }

  @OutOfMemoryTest(onCluster = true)
  void aUnionHasTheRowsOfAllStreamsEachInItsOrder() throws Exception {
    StreamExecutionEnvironment environment = environment();
    DataStream<ColumnBatch> first = source(environment);
    DataStream<ColumnBatch> second =
        TableSourceOperator.batches(
            environment.fromSequence(BATCHES, 2 * BATCHES - 1), SCHEMA, BatchExchangeTest::rows);
    DataStream<ColumnBatch> ofAnotherCodecAndParallelism =
        BatchExchange.roundRobin(source(environment)).codec(BodyCodec.ZSTD).parallelism(1).apply();
    BatchCollector collector = new BatchCollector();
    collector.collect(
        BatchExchange.union(List.of(first, second))
            .coalesce(CoalesceOptions.DEFAULT.withRows(1))
            .apply());
    BatchCollector mixed = new BatchCollector();
    mixed.collect(BatchExchange.union(List.of(first, ofAnotherCodecAndParallelism, first)).apply());
    flink.run(environment);

    assertThat(inOrder(collector.rows()))
        .isEqualTo(
            LongStream.range(0, 2 * BATCHES).boxed().flatMap(i -> rows(i).stream()).toList());
    for (int subtask = 0; subtask < SENDERS; subtask++) {
      assertThat(positions(collector, subtask, true)).isSorted();
      assertThat(positions(collector, subtask, false)).isSorted();
    }
    assertThat(inOrder(mixed.rows()))
        .isEqualTo(
            allRows().stream().flatMap(row -> Collections.nCopies(3, row).stream()).toList());
  }

  private static List<Long> positions(BatchCollector collector, int subtask, boolean ofFirst) {
    return collector.batches().stream()
        .filter(batch -> batch.subtask() == subtask)
        .flatMap(batch -> batch.rows().stream())
        .filter(row -> (Long) row.get(2) < BATCHES == ofFirst)
        .map(BatchExchangeTest::position)
        .toList();
  }

  @Test
  void aUnionCutsLargeBatches() throws Exception {
    StreamExecutionEnvironment environment = environment();
    Schema text = Schema.of(Field.of("text", DataType.STRING));
    DataStream<ColumnBatch> large =
        TableSourceOperator.batches(
            environment.fromSequence(0, 0),
            text,
            number -> Collections.nCopies(12, List.of("x".repeat(1 << 20))));
    BatchCollector collector = new BatchCollector();
    collector.collect(
        BatchExchange.union(List.of(large, large))
            .coalesce(CoalesceOptions.DEFAULT.withRows(1))
            .apply());
    flink.run(environment);
    assertThat(collector.rows()).hasSize(2 * 12);
    assertThat(collector.batches())
        .hasSizeGreaterThanOrEqualTo(2 * 3)
        .allSatisfy(batch -> assertThat(batch.rows()).hasSizeLessThan(4));
  }

  @Test
  void invalidUnionsAreRefusedWhenTheJobIsBuilt() {
    StreamExecutionEnvironment environment = environment();
    DataStream<ColumnBatch> batches = source(environment);
    Schema other = Schema.of(Field.of("id", DataType.INT64));
    DataStream<ColumnBatch> others =
        TableSourceOperator.batches(environment.fromSequence(0, 1), other, number -> List.of());
    assertThatThrownBy(() -> BatchExchange.union(List.of(batches)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a union needs two streams, but has 1");
    assertThatThrownBy(() -> BatchExchange.union(List.of(batches, others)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a union of " + SCHEMA + " and (id BIGINT)");
  }
}
