// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.firstValue;
import static io.millrace.operators.aggregate.Aggregate.lastValue;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static io.millrace.operators.aggregate.Aggregate.varPop;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.aggregate.GroupAggregateSubtasks.Snapshot;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OperatorHarness;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Aggregates of which the first phase is in front of the exchange. */
@ExtendWith(NothingHeldExtension.class)
class TwoPhaseAggregateTest {
  private static final byte INSERT = RowKind.INSERT.toByteValue();
  private static final byte BEFORE = RowKind.UPDATE_BEFORE.toByteValue();
  private static final byte AFTER = RowKind.UPDATE_AFTER.toByteValue();
  private static final byte DELETE = RowKind.DELETE.toByteValue();

  private static final Schema BIDS =
      Schema.of(
          Field.of("channel", DataType.STRING),
          Field.of("price", DataType.INT32),
          new Field("bidder", DataType.INT64, false),
          Field.of("fee", DataType.FLOAT64));
  private static final List<String> KEYS = List.of("channel");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Job job(Aggregate... aggregates) {
    return new Job(BIDS, KEYS, aggregates).withTwoPhases(true);
  }

  private static Job changelogJob(Aggregate... aggregates) {
    return new Job(RowKindColumn.addTo(BIDS), KEYS, aggregates).withTwoPhases(true);
  }

  private static List<?> bid(String channel, Integer price, long bidder) {
    return asList(channel, price, bidder, null);
  }

  private static List<?> bid(String channel, Integer price, byte kind) {
    return asList(channel, price, 0L, null, kind);
  }

  /** The changes of batches that go through both phases, one after the other. */
  private static List<String> changes(
      OperatorHarness firstPhase, GroupAggregateHarness secondPhase, List<?>... rows)
      throws Exception {
    int sent = firstPhase.rows().size();
    firstPhase.send(7, List.of(rows));
    List<List<Object>> partials = firstPhase.rows();
    secondPhase.send(7, partials.subList(sent, partials.size()));
    return secondPhase.takeChanges();
  }

  @OutOfMemoryTest
  void aBatchBecomesOneRowForEachKey() throws Exception {
    Job job = job(count().as("n"), sum("price").as("s"), sum("bidder").as("b"));
    try (OperatorHarness firstPhase = job.openFirstPhase(device)) {
      firstPhase.send(
          41,
          List.of(
              bid("a channel of more than 12 bytes", 5, 1),
              bid(null, null, 2),
              bid("web", -1, 3),
              bid("a channel of more than 12 bytes", 7, 4)));
      assertThat(firstPhase.rows())
          .containsExactly(
              List.of("a channel of more than 12 bytes", 2L, 12L, 2L, 5L),
              asList(null, 1L, 0L, 0L, 2L),
              List.of("web", 1L, -1L, 1L, 3L));
      assertThat(firstPhase.batches().get(0).timestamp()).isEqualTo(41);
    }
  }

  // The third attempt is the last; then the batch is emitted in parts.
  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitIsEmittedInParts() throws Exception {
    Job job = job(count().as("n"), sum("price").as("s"));
    try (OperatorHarness firstPhase = job.openFirstPhase(device)) {
      firstPhase.send(
          1, List.of(bid("a", 1, 0), bid("b", 2, 0), bid("a", 4, 0), bid("b", null, 0)));
      long rows = 0;
      long sum = 0;
      for (List<Object> partial : firstPhase.rows()) {
        rows += (long) partial.get(1);
        sum += (long) partial.get(2);
      }
      assertThat(rows).isEqualTo(4);
      assertThat(sum).isEqualTo(7);
    }
  }

  @OutOfMemoryTest
  void accumulatorsAreCombinedWithTheState() throws Exception {
    Job job =
        job(
            count().as("n"),
            avg("price").as("a"),
            min("price").as("low"),
            max("bidder").filter(col("price").gt(5)).as("high"));
    try (OperatorHarness firstPhase = job.openFirstPhase(device);
        GroupAggregateHarness secondPhase = job.open(device)) {
      assertThat(
              changes(firstPhase, secondPhase, bid("a", null, 3), bid("b", 9, -4), bid("a", 5, 9)))
          .containsExactly("+I[a, 2, 5, 5, null]", "+I[b, 1, 9, 9, -4]");
      assertThat(changes(firstPhase, secondPhase, bid("a", 10, -3), bid("c", null, 1)))
          .containsExactly(
              "-U[a, 2, 5, 5, null]", "+U[a, 3, 7, 5, -3]", "+I[c, 1, null, null, null]");
      assertThat(changes(firstPhase, secondPhase)).isEmpty();
    }
  }

  @Test
  void rowsAreTakenBackInTheFirstPhase() throws Exception {
    Job job = changelogJob(sum("price").as("s"));
    try (OperatorHarness firstPhase = job.openFirstPhase(device);
        GroupAggregateHarness secondPhase = job.open(device)) {
      assertThat(
              changes(
                  firstPhase,
                  secondPhase,
                  bid("a", 10, INSERT),
                  bid("a", 10, BEFORE),
                  bid("a", 11, AFTER),
                  bid("b", 5, INSERT),
                  bid("b", 5, DELETE)))
          .containsExactly("+I[a, 11]");
      // No row of the key is left of the batch, but its sum has changed.
      assertThat(changes(firstPhase, secondPhase, bid("a", 11, BEFORE), bid("a", 15, AFTER)))
          .containsExactly("-U[a, 11]", "+U[a, 15]");
      assertThat(firstPhase.last())
          .isEqualTo(new OperatorHarness.Output(List.of(List.of("a", 0L, 4L, 0L)), 7));
      assertThat(changes(firstPhase, secondPhase, bid("b", null, INSERT), bid("a", 15, DELETE)))
          .containsExactly("+I[b, null]", "-D[a, 15]");
      assertThat(changes(firstPhase, secondPhase, bid("a", 1, INSERT), bid("a", 1, DELETE)))
          .isEmpty();
      assertThat(changes(firstPhase, secondPhase, bid("a", 3, INSERT))).containsExactly("+I[a, 3]");
    }
  }

  @OutOfMemoryTest
  void keysAreForgottenByTheClockOfTheSecondPhase() throws Exception {
    Job job = job(count().as("n"), sum("price").as("s")).withStateTtl(Duration.ofMillis(100));
    try (OperatorHarness firstPhase = job.openFirstPhase(device);
        GroupAggregateHarness secondPhase = job.open(device)) {
      secondPhase.setProcessingTime(1_000);
      assertThat(changes(firstPhase, secondPhase, bid("a", 1, 0), bid("b", 1, 0)))
          .containsExactly("+I[a, 1, 1]", "+I[b, 1, 1]");
      secondPhase.setProcessingTime(1_099);
      assertThat(changes(firstPhase, secondPhase, bid("a", 2, 0)))
          .containsExactly("-U[a, 1, 1]", "+U[a, 2, 3]");
      secondPhase.setProcessingTime(1_100);
      assertThat(changes(firstPhase, secondPhase, bid("a", null, 0), bid("b", 4, 0)))
          .containsExactly("-U[a, 2, 3]", "+U[a, 3, 3]", "+I[b, 1, 4]");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void jobsChangeTheirPhasesAndParallelismWithTheirState(boolean isChangelog) throws Exception {
    Random numbers = random.random();
    GroupAggregateModel model = new GroupAggregateModel(isChangelog, false);
    Job job = model.job();
    Snapshot snapshot = null;
    for (int run = 0; run < 12; run++) {
      Job next = job.withTwoPhases(numbers.nextBoolean());
      int parallelism = 1 + numbers.nextInt(4);
      try (GroupAggregateSubtasks subtasks =
          snapshot == null
              ? GroupAggregateSubtasks.open(device, next, parallelism)
              : GroupAggregateSubtasks.restore(device, next, snapshot, parallelism)) {
        for (int batch = numbers.nextInt(5); batch >= 0; batch--) {
          subtasks.send(model.randomBatch(numbers));
          assertThat(subtasks.results()).as("seed %d", random.seed()).isEqualTo(model.results());
        }
        snapshot = subtasks.snapshot();
      }
    }
  }

  @Test
  void sumsThatLeaveTheirTypeInTheFirstPhaseReturn() throws Exception {
    DataType type = DataType.decimal(38, 0);
    Schema schema = Schema.of(new Field("k", DataType.INT32, false), Field.of("d", type));
    Job job =
        new Job(RowKindColumn.addTo(schema), List.of("k"), sum("d").as("s")).withTwoPhases(true);
    Object most = new java.math.BigDecimal("9".repeat(38));
    try (OperatorHarness firstPhase = job.openFirstPhase(device);
        GroupAggregateHarness secondPhase = job.open(device)) {
      assertThat(
              changes(
                  firstPhase,
                  secondPhase,
                  List.of(1, most, INSERT),
                  List.of(1, most, INSERT),
                  List.of(1, most, INSERT)))
          .containsExactly("+I[1, null]");
      assertThat(
              changes(firstPhase, secondPhase, List.of(1, most, DELETE), List.of(1, most, DELETE)))
          .containsExactly("-U[1, null]", "+U[1, " + most + "]");
    }
  }

  @Test
  void aggregatesThatDependOnTheOrderOfRowsAreRefused() {
    List<Aggregate> ordered = new ArrayList<>();
    ordered.add(sum("fee"));
    ordered.add(avg("fee"));
    ordered.add(varPop("price"));
    ordered.add(firstValue("price"));
    ordered.add(lastValue("bidder"));
    for (Aggregate aggregate : ordered) {
      assertThatThrownBy(() -> plan(count(), aggregate))
          .isInstanceOf(ExpressionException.class)
          .hasMessage(
              aggregate
                  + " is not supported in two phases: it depends on the order of the rows of all"
                  + " subtasks");
    }
    assertThat(plan(count("fee"), min("fee"), max("fee")).partials().size()).isEqualTo(4);
  }

  @Test
  void valuesOfSeveralWordsAreRefused() {
    Aggregate longest = max(col("bidder").cast(DataType.STRING));
    assertThatThrownBy(() -> plan(count(), longest))
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            longest + " is not supported in two phases: it compares values of more than 8 bytes");
  }

  @Test
  void distinctIsRefused() {
    assertThatThrownBy(() -> plan(count("bidder").distinct()))
        .isInstanceOf(ExpressionException.class)
        .hasMessageStartingWith("COUNT(DISTINCT `bidder`) is not supported in two phases: ");
  }

  private static TwoPhasePlan plan(Aggregate... aggregates) {
    return new TwoPhasePlan(
        BIDS, KEYS, List.of(aggregates), ExpressionSettings.DEFAULT, StateTtl.NONE);
  }
}
