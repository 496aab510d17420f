// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.lookup;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.ContextMemory;
import io.millrace.operators.context.MemoryOptions;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OperatorHarness;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class LookupOperatorTest {
  private static final RefreshOptions SELDOM = RefreshOptions.every(Duration.ofDays(1));
  private static final RefreshOptions OFTEN = RefreshOptions.every(Duration.ofMillis(1));
  // Room for the dimension table, which is spilled meanwhile.
  private static final int MAX_BYTES = 80_000;
  private static final Schema SCHEMA =
      Schema.of(Field.of("item", DataType.INT64), Field.of("note", DataType.STRING));
  private static final List<List<Object>> ITEMS =
      List.of(asList("one", 1L, 10), asList(null, 2L, 20), asList("three", 3L, 30));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private String name;

  @BeforeEach
  void nameOfTheTest(TestInfo test) {
    name = test.getTestMethod().orElseThrow().getName();
  }

  private ListDimension dimension(RefreshOptions refresh) {
    ListDimension dimension = new ListDimension(name, refresh);
    dimension.contents().set(ITEMS);
    return dimension;
  }

  private OperatorHarness open(Lookup lookup) throws Exception {
    return new OperatorHarness(
        device, SCHEMA, LookupOperator.factory(new LookupPlan(SCHEMA, lookup)));
  }

  private static List<List<Object>> asked(Object... keys) {
    List<List<Object>> rows = new ArrayList<>();
    for (Object key : keys) {
      rows.add(asList(key, "note of " + key));
    }
    return rows;
  }

  @OutOfMemoryTest
  void rowsWithoutAMatchAreDropped() throws Exception {
    try (OperatorHarness harness = open(Lookup.inner(dimension(SELDOM), "item"))) {
      harness.send(7, asked(3L, 4L, null, 2L, 3L));
      harness.send(8, asked());
      harness.send(9, asked(5L));
      assertThat(harness.batches().get(0))
          .isEqualTo(
              new OperatorHarness.Output(
                  List.of(
                      asList(3L, "note of 3", "three", 30),
                      asList(2L, "note of 2", null, 20),
                      asList(3L, "note of 3", "three", 30)),
                  7));
      assertThat(harness.rows()).hasSize(3);
    }
  }

  @OutOfMemoryTest
  void rowsWithoutAMatchAreKeptWithNulls() throws Exception {
    try (OperatorHarness harness = open(Lookup.outer(dimension(SELDOM), "item"))) {
      harness.send(7, asked(3L, 4L, null, 2L));
      assertThat(harness.rows())
          .containsExactly(
              asList(3L, "note of 3", "three", 30),
              asList(4L, "note of 4", null, null),
              asList(null, "note of null", null, null),
              asList(2L, "note of 2", null, 20));
    }
  }

  @OutOfMemoryTest
  void aTableIsACopyWithoutCopyOnWrite() throws Exception {
    MockEnvironment environment =
        new MockEnvironmentBuilder()
            .setTaskManagerRuntimeInfo(
                new TestingTaskManagerRuntimeInfo(
                    new Configuration().set(MemoryOptions.COPY_ON_WRITE, false)))
            .build();
    try (OperatorHarness harness =
        new OperatorHarness(device, SCHEMA, factory(dimension(SELDOM)), environment)) {
      harness.send(0, asked(1L, 2L));
      assertThat(harness.rows()).hasSize(2);
    } finally {
      environment.close();
    }
  }

  @Test
  void aBatchThatDoesNotFitIsLookedUpInParts() throws Exception {
    AtomicBoolean isFull = new AtomicBoolean();
    ContextMemory.wrap(
        memory ->
            new FailingResourceAdaptor(
                memory, (number, bytes) -> isFull.get() && bytes > MAX_BYTES));
    List<Object> keys = new ArrayList<>(Collections.nCopies(40_000, 3L));
    keys.set(500, 9L);
    try (OperatorHarness inner = open(Lookup.inner(dimension(SELDOM), "item"));
        OperatorHarness outer = open(Lookup.outer(dimension(SELDOM), "item"))) {
      isFull.set(true);
      inner.send(0, asked(keys.toArray()));
      outer.send(0, asked(keys.toArray()));
      assertThat(inner.batches()).hasSizeGreaterThan(1);
      assertThat(inner.rows()).hasSize(39_999).containsOnly(asList(3L, "note of 3", "three", 30));
      assertThat(outer.batches()).hasSizeGreaterThan(1);
      assertThat(outer.rows()).hasSize(40_000).contains(asList(9L, "note of 9", null, null));
    } finally {
      ContextMemory.unwrap();
    }
  }

  @OutOfMemoryTest
  void anEmptyTableHasNoMatches() throws Exception {
    ListDimension dimension = dimension(SELDOM);
    dimension.contents().set(List.of());
    try (OperatorHarness inner = open(Lookup.inner(dimension, "item"));
        OperatorHarness outer = open(Lookup.outer(dimension, "item"))) {
      inner.send(0, asked(1L, 2L));
      outer.send(0, asked(1L));
      assertThat(inner.rows()).isEmpty();
      assertThat(outer.rows()).containsExactly(asList(1L, "note of 1", null, null));
    }
  }

  @Test
  void rowsKeepTheirEventTimes() throws Exception {
    Schema withTimes = EventTimeColumn.addTo(SCHEMA);
    for (boolean isOuter : List.of(false, true)) {
      Lookup lookup = new Lookup(dimension(SELDOM), List.of("item"), isOuter);
      LookupPlan plan = new LookupPlan(SCHEMA, lookup);
      try (OperatorHarness harness =
          new OperatorHarness(device, SCHEMA, LookupOperator.factory(plan)) {
            @Override
            protected Object read(StreamRecord<ColumnBatch> element) {
              return new Output(device.rows(element.getValue().tableWithEventTimes()), 0);
            }
          }) {
        harness.send(
            0,
            TableBuilder.ofRows(withTimes, List.of(asList(9L, "a", 98L), asList(1L, "b", 99L)))
                .build(device));
        assertThat(harness.rows())
            .contains(asList(1L, "b", "one", 10, 99L))
            .hasSize(isOuter ? 2 : 1);
      }
    }
  }

  @Test
  void aChangeIsSeenBehindARefreshAndAFailureKeepsTheTable() throws Exception {
    ListDimension dimension = dimension(OFTEN);
    try (OperatorHarness harness = open(Lookup.inner(dimension, "item"))) {
      dimension.contents().fail(new IOException("the source is gone"));
      dimension.contents().awaitRead();
      harness.send(0, asked(1L));
      assertThat(harness.last()).hasToString("Output[rows=[[1, note of 1, one, 10]], timestamp=0]");
      dimension.contents().set(List.of(asList("uno", 1L, 11)));
      dimension.contents().awaitRead();
      harness.send(1, asked(1L, 2L));
      assertThat(harness.last()).hasToString("Output[rows=[[1, note of 1, uno, 11]], timestamp=1]");
      dimension.contents().set(List.of(asList("a", 1L, 1), asList("b", 2L, 1), asList("c", 1L, 1)));
      dimension.contents().awaitRead();
      harness.send(2, asked(1L));
      assertThat(harness.last()).hasToString("Output[rows=[[1, note of 1, uno, 11]], timestamp=2]");
    }
  }

  @Test
  void aTableThatIsTooOldFailsTheLookup() throws Exception {
    ListDimension dimension = dimension(OFTEN.withMaxAge(Duration.ofMillis(2)));
    try (OperatorHarness harness = open(Lookup.inner(dimension, "item"))) {
      dimension.contents().fail(new IOException("the source is gone"));
      // Failures take as long as they take: the table is 2 ms old some time.
      assertThatThrownBy(
              () -> {
                for (; ; ) {
                  harness.send(0, asked(1L));
                  dimension.contents().awaitRead();
                }
              })
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("the dimension table " + name + " was read ");
    }
  }

  @Test
  void aFirstReadThatFailsFailsTheOperator() throws Exception {
    ListDimension dimension = dimension(OFTEN);
    dimension.contents().fail(new IOException("the source is gone"));
    assertOpenFails(dimension, "the source is gone");
    dimension.contents().set(List.of(asList("a", 1L, 1), asList("b", 1L, 1)));
    assertOpenFails(
        dimension, "expected a row for each key [id], got 2 rows with 1 different keys");
  }

  @SuppressWarnings("try") // close() may throw anything
  private void assertOpenFails(ListDimension dimension, String reason) throws Exception {
    try (OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness = harness(dimension)) {
      assertThatThrownBy(harness::open)
          .isInstanceOf(IOException.class)
          .hasMessage("the dimension table " + name + " cannot be read: " + reason);
    }
  }

  private static OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness(
      ListDimension dimension) throws Exception {
    return new OneInputStreamOperatorTestHarness<>(
        factory(dimension), new ColumnBatchSerializer(SCHEMA, BodyCodec.RAW));
  }

  private static OneInputStreamOperatorFactory<ColumnBatch, ColumnBatch> factory(
      ListDimension dimension) {
    return LookupOperator.factory(new LookupPlan(SCHEMA, Lookup.inner(dimension, "item")));
  }

  @Test
  @SuppressWarnings("try") // close() may throw anything
  void operatorsOfAJobShareOneCopyOfEqualDefinitions() throws Exception {
    ListDimension dimension = dimension(SELDOM);
    int before = dimension.contents().reads();
    try (OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness = harness(dimension)) {
      harness.open();
      LookupOperator operator = (LookupOperator) harness.getOneInputOperator();
      SharedDimension second =
          SharedDimension.acquire(operator, device.device(), new ListDimension(name, SELDOM));
      SharedDimension other =
          SharedDimension.acquire(operator, device.device(), new ListDimension(name, OFTEN));
      try (SharedDimension.Version version = second.current()) {
        assertThat(version.table().rowCount()).isEqualTo(3);
        assertThat(other).isNotSameAs(second);
      } finally {
        second.release();
        other.release();
      }
    }
    assertThat(dimension.contents().reads()).isGreaterThan(before);
  }

  @Test
  void closingEndsAReadThatHangs() throws Exception {
    ListDimension dimension = dimension(OFTEN);
    try (OperatorHarness harness = open(Lookup.inner(dimension, "item"))) {
      dimension.contents().hang();
      dimension.contents().awaitReads(dimension.contents().reads() + 1);
      harness.send(0, asked(1L));
      assertThat(harness.rows()).hasSize(1);
    }
  }

  @Test
  void lookupsThatDoNotFitAreRefused() {
    ListDimension items = dimension(SELDOM);
    assertRefused(
        RowKindColumn.addTo(SCHEMA),
        Lookup.inner(items, "item"),
        "a changelog cannot be looked up in a dimension table: a row and its retraction could get"
            + " different values");
    assertRefused(
        SCHEMA,
        Lookup.inner(items, "note"),
        "expected BIGINT for 'note', the type of 'id' of the dimension table "
            + name
            + ", got STRING; cast it");
    assertRefused(
        SCHEMA,
        Lookup.inner(items, "item", "note"),
        "expected a column for each key of the dimension table "
            + name
            + ", [id], got [item, note]");
    assertRefused(
        Schema.of(Field.of("item", DataType.INT64), Field.of("price", DataType.INT32)),
        Lookup.inner(items, "item"),
        "the stream and the dimension table "
            + name
            + " both have a column 'price'; rename or drop one");
  }

  private static void assertRefused(Schema schema, Lookup lookup, String message) {
    assertThatThrownBy(() -> new LookupPlan(schema, lookup))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void optionsThatMakeNoSenseAreRefused() {
    assertThatThrownBy(() -> RefreshOptions.every(Duration.ZERO))
        .hasMessage("expected an interval of 1 ms or more, got PT0S");
    assertThatThrownBy(() -> OFTEN.withMaxAge(Duration.ofMillis(1)))
        .hasMessage("expected an age above the interval of PT0.001S, got PT0.001S");
  }
}
