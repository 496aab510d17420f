// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.firstValue;
import static io.millrace.operators.aggregate.Aggregate.lastValue;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.GroupAggregateHarness;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** State that does not fit is refused with the reason, and never restored in part. */
@ExtendWith(NothingHeldExtension.class)
class DamagedStateTest {
  private static final Schema BIDS =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          Field.of("price", DataType.INT32),
          new Field("bidder", DataType.INT64, false));
  private static final Job JOB = new Job(BIDS, List.of("auction"), count(), sum("price"));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static final Schema NAMES =
      Schema.of(Field.of("name", DataType.STRING), Field.of("bytes", DataType.BINARY));
  private static final Job JOB_OF_NAMES = new Job(NAMES, List.of("name", "bytes"), count());

  private OperatorSubtaskState stateOfNames(int keys) throws Exception {
    List<List<?>> rows = new ArrayList<>();
    for (int key = 0; key < keys; key++) {
      rows.add(List.of("name".repeat(key), ByteBuffer.wrap(new byte[key])));
    }
    try (GroupAggregateHarness harness = JOB_OF_NAMES.open(device)) {
      harness.send(0, rows);
      return harness.snapshot();
    }
  }

  private OperatorSubtaskState state(int keys) throws Exception {
    return state(JOB, keys);
  }

  private OperatorSubtaskState state(Job job, int keys) throws Exception {
    List<List<?>> rows = new ArrayList<>();
    for (long key = 0; key < keys; key++) {
      rows.add(List.of(key, (int) key * 3, key));
    }
    try (GroupAggregateHarness harness = job.open(device)) {
      harness.send(0, rows);
      return harness.snapshot();
    }
  }

  private static KeyGroupsStateHandle handle(OperatorSubtaskState state) {
    return (KeyGroupsStateHandle) state.getRawKeyedState().iterator().next();
  }

  private static byte[] bytes(OperatorSubtaskState state) throws IOException {
    try (InputStream stream = handle(state).getDelegateStateHandle().openInputStream()) {
      return stream.readAllBytes();
    }
  }

  private static OperatorSubtaskState with(OperatorSubtaskState state, byte[] bytes) {
    return OperatorSubtaskState.builder()
        .setRawKeyedState(
            new KeyGroupsStateHandle(
                handle(state).getGroupRangeOffsets(), new ByteStreamStateHandle("state", bytes)))
        .build();
  }

  private Throwable failure(Job job, OperatorSubtaskState state) {
    return catchThrowable(() -> job.restore(device, state).close());
  }

  @Test
  void truncatedStateIsRefused() throws Exception {
    assertTruncatedIsRefused(JOB, state(40));
    assertTruncatedIsRefused(JOB_OF_NAMES, stateOfNames(20));
  }

  private void assertTruncatedIsRefused(Job job, OperatorSubtaskState whole) throws Exception {
    byte[] bytes = bytes(whole);
    Random lengths = random.random();
    for (int length = 0; length < bytes.length; length += length < 200 ? 1 : lengths.nextInt(50)) {
      assertThat(failure(job, with(whole, Arrays.copyOf(bytes, length))))
          .as("%d of %d bytes", length, bytes.length)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("keyed state is damaged: it ends ");
    }
  }

  @Test
  void eachFlippedBitIsNoticed() throws Exception {
    assertFlippedBitsAreNoticed(JOB, state(10));
    assertFlippedBitsAreNoticed(JOB_OF_NAMES, stateOfNames(6));
  }

  private void assertFlippedBitsAreNoticed(Job job, OperatorSubtaskState whole) throws Exception {
    byte[] bytes = bytes(whole);
    Random bits = random.random();
    for (int i = 0; i < bytes.length; i++) {
      byte[] damaged = bytes.clone();
      damaged[i] ^= (byte) (1 << bits.nextInt(Byte.SIZE));
      assertThat(failure(job, with(whole, damaged)))
          .as("a bit of byte %d of %d", i, bytes.length)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("keyed state");
    }
  }

  @Test
  void aFlippedBitOfCompressedStateIsNoticedOrHarmless() throws Exception {
    Job job = JOB.withOptions(Map.of(ExecutionOptions.SNAPSHOT_COMPRESSION.key(), "true"));
    OperatorSubtaskState whole = state(job, 200);
    byte[] bytes = bytes(whole);
    assertThat(bytes.length).isLessThan(bytes(state(200)).length / 2);
    Random bits = random.random();
    int noticed = 0;
    for (int i = 0; i < bytes.length; i++) {
      byte[] damaged = bytes.clone();
      damaged[i] ^= (byte) (1 << bits.nextInt(Byte.SIZE));
      try (GroupAggregateHarness harness = job.restore(device, with(whole, damaged))) {
        assertThat(harness.changes(List.of(199L, 10, 0L)))
            .as("a bit of byte %d of %d", i, bytes.length)
            .containsExactly("-U[199, 1, 597]", "+U[199, 2, 607]");
      } catch (IOException e) {
        assertThat(e).hasMessageContaining("keyed state");
        noticed++;
      }
    }
    // Zstandard ignores few bits of a frame's header.
    assertThat(noticed).isGreaterThan(bytes.length - 5);
  }

  @Test
  void otherFormatsAreRefused() throws Exception {
    OperatorSubtaskState whole = state(1);
    byte[] bytes = bytes(whole);
    byte[] other = bytes.clone();
    ByteBuffer.wrap(other).putInt(0, 0x12345678);
    assertThat(failure(JOB, with(whole, other)))
        .isInstanceOf(IOException.class)
        .hasMessage("expected keyed state, which begins with 4d4c5253, got 12345678");
    byte[] later = bytes.clone();
    ByteBuffer.wrap(later).putInt(4, 5);
    assertThat(failure(JOB, with(whole, later)))
        .isInstanceOf(IOException.class)
        .hasMessage("expected keyed state of version 1 or 2 or 3 or 4, got version 5");
  }

  @Test
  void stateForAnotherKeyIsRefused() throws Exception {
    OperatorSubtaskState state = state(3);
    Schema narrower =
        Schema.of(new Field("auction", DataType.INT32, false), Field.of("price", DataType.INT32));
    assertThat(failure(new Job(narrower, List.of("auction"), count(), sum("price")), state))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "the checkpoint has state for the key (auction BIGINT NOT NULL), and the job has"
                + " (auction INT NOT NULL)");
    assertThat(failure(new Job(BIDS, List.of("bidder"), count(), sum("price")), state))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("(bidder BIGINT NOT NULL)");
    assertThat(failure(new Job(BIDS, List.of("bidder", "auction"), count()), state))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("and the job has (bidder BIGINT NOT NULL, auction BIGINT NOT NULL)");
  }

  @Test
  void stateOfOtherAggregatesIsRefused() throws Exception {
    OperatorSubtaskState state = state(3);
    List<Job> others =
        List.of(
            JOB.withAggregates(count(), sum(col("price").plus(1))),
            JOB.withAggregates(count(), sum("price").filter(col("bidder").gt(1L))),
            JOB.withAggregates(count(), max("price")),
            JOB.withAggregates(count(), min("price")),
            JOB.withAggregates(count(), sum("bidder")));
    for (Job other : others) {
      assertThat(failure(other, state))
          .as("%s", other)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("the checkpoint has state with ")
          .hasMessageContaining("SUM(`price`)")
          .hasMessageContaining(", and the job has ");
    }
  }

  @Test
  void theNamesOfAggregatesMayChange() throws Exception {
    OperatorSubtaskState state = state(3);
    Job renamed = JOB.withAggregates(count().as("n"), sum("price").as("total"));
    try (GroupAggregateHarness harness = renamed.restore(device, state)) {
      assertThat(harness.changes(List.of(2L, 10, 0L)))
          .containsExactly("-U[2, 1, 6]", "+U[2, 2, 16]");
    }
  }

  @Test
  void anOperatorThatWasNotRestoredCanBeClosed() throws Exception {
    OperatorSubtaskState state = state(3);
    assertThatThrownBy(() -> JOB.restore(device, with(state, new byte[3])))
        .isInstanceOf(IOException.class);
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      assertThat(harness.changes(List.of(7L, 1, 0L))).containsExactly("+I[7, 1, 1]");
    }
  }

  @OutOfMemoryTest
  void aggregatesMayBeRemovedAndReordered() throws Exception {
    Job before =
        JOB.withAggregates(avg("price"), max("price"), count(), sum("bidder"), min("bidder"));
    Job after =
        JOB.withAggregates(
            min("bidder").as("m"), sum("price"), sum("bidder").as("s"), avg("price"));
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = before.open(device)) {
      harness.send(0, List.of(List.of(1L, 10, 5L), asList(1L, null, 4L), asList(2L, null, 3L)));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = after.restore(device, state)) {
      assertThat(harness.changes(List.of(2L, 8, 9L), List.of(1L, 2, 1L)))
          .containsExactly(
              "-U[2, 3, null, 3, null]",
              "+U[2, 3, 8, 12, 8]",
              "-U[1, 4, 10, 9, 10]",
              "+U[1, 1, 12, 10, 6]");
    }
  }

  @Test
  void anAggregateThatTheCheckpointLacksIsRefused() throws Exception {
    OperatorSubtaskState state = state(3);
    assertThat(failure(JOB.withAggregates(count(), sum("price"), max("price")), state))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "the checkpoint has state with ($COUNT(*) BIGINT NOT NULL, $SUM(`price`) BIGINT NOT"
                + " NULL, $COUNT(`price`) BIGINT NOT NULL), and the job has ($COUNT(*) BIGINT NOT"
                + " NULL, $SUM(`price`) BIGINT NOT NULL, $COUNT(`price`) BIGINT NOT NULL,"
                + " $MAX(`price`) INT NOT NULL)");
  }

  @Test
  void firstAndLastValuesKeepTheirSignsInWiderIntegers() throws Exception {
    Aggregate[] aggregates = {firstValue("a"), lastValue("b"), firstValue("c")};
    OperatorSubtaskState state;
    Job narrow = new Job(numbers(DataType.INT32, DataType.INT16), List.of("key"), aggregates);
    try (GroupAggregateHarness harness = narrow.open(device)) {
      harness.send(0, List.of(asList(1L, -5, (short) -7, null)));
      state = harness.snapshot();
    }
    Job wide = new Job(numbers(DataType.INT64, DataType.INT32), List.of("key"), aggregates);
    try (GroupAggregateHarness harness = wide.restore(device, state)) {
      assertThat(harness.changes(asList(1L, 1L << 40, -8, -9)))
          .containsExactly("-U[1, -5, -7, null]", "+U[1, -5, -8, -9]");
    }
  }

  private static Schema numbers(DataType a, DataType b) {
    return Schema.of(
        new Field("key", DataType.INT64, false),
        Field.of("a", a),
        Field.of("b", b),
        Field.of("c", b));
  }

  @Test
  void anArgumentMayNotBecomeNotNull() throws Exception {
    Aggregate[] aggregates = {count(), avg("price")};
    Schema notNull =
        Schema.of(BIDS.field(0), new Field("price", BIDS.field(1).type(), false), BIDS.field(2));
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.withAggregates(aggregates).open(device)) {
      harness.send(0, List.of(asList(1L, null, 0L), List.of(1L, 7, 0L)));
      state = harness.snapshot();
    }
    assertThat(failure(new Job(notNull, List.of("auction"), aggregates), state))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(
            "$SUM(`price`) of an argument that may be null, and the job has it NOT NULL");
  }

  @Test
  void anIntegerMayBecomeWider() throws Exception {
    Aggregate[] aggregates = {min("price"), max("price"), sum("price"), avg("price")};
    Schema wide = Schema.of(BIDS.field(0), Field.of("price", DataType.INT64), BIDS.field(2));
    OperatorSubtaskState state;
    OperatorSubtaskState wideState;
    try (GroupAggregateHarness harness = JOB.withAggregates(aggregates).open(device)) {
      harness.send(0, List.of(List.of(1L, Integer.MIN_VALUE, 0L), List.of(1L, 7, 0L)));
      state = harness.snapshot();
    }
    Job wideJob = new Job(wide, List.of("auction"), aggregates);
    try (GroupAggregateHarness harness = wideJob.restore(device, state)) {
      assertThat(harness.changes(List.of(1L, 1L << 40, 0L)))
          .containsExactly(
              "-U[1, -2147483648, 7, -2147483641, -1073741820]",
              "+U[1, -2147483648, 1099511627776, 1097364144135, 365788048045]");
      wideState = harness.snapshot();
    }
    assertThat(failure(JOB.withAggregates(aggregates), wideState))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("$MIN(`price`) BIGINT NOT NULL")
        .hasMessageContaining("$MIN(`price`) INT NOT NULL");
  }
}
