// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.core.io.InputStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InterleavedNumberReaderTest {
  private static final long COUNT = 12_345;

  /** Keeps what a reader gives. */
  private static final class Collected implements ReaderOutput<NumberBatch> {
    private final List<NumberBatch> batches = new ArrayList<>();

    @Override
    public void collect(NumberBatch batch) {
      batches.add(batch);
    }

    @Override
    public void collect(NumberBatch batch, long timestamp) {
      batches.add(batch);
    }

    @Override
    public void emitWatermark(Watermark watermark) {}

    @Override
    public void markIdle() {}

    @Override
    public void markActive() {}

    @Override
    public SourceOutput<NumberBatch> createOutputForSplit(String split) {
      return this;
    }

    @Override
    public void releaseOutputForSplit(String split) {}
  }

  private static List<InterleavedNumbers> splits(int splitCount, long count) {
    return IntStream.range(0, splitCount)
        .mapToObj(i -> InterleavedNumbers.of(i, splitCount, count))
        .toList();
  }

  private static InterleavedNumberReader reader(int batchRows, List<InterleavedNumbers> splits) {
    InterleavedNumberReader reader = new InterleavedNumberReader(batchRows);
    reader.addSplits(splits);
    reader.notifyNoMoreSplits();
    return reader;
  }

  private static List<NumberBatch> rest(InterleavedNumberReader reader) {
    Collected collected = new Collected();
    InputStatus status = InputStatus.MORE_AVAILABLE;
    while (status != InputStatus.END_OF_INPUT) {
      status = reader.pollNext(collected);
    }
    return collected.batches;
  }

  private static List<Long> numbers(List<NumberBatch> batches) {
    return batches.stream()
        .flatMapToLong(batch -> IntStream.range(0, batch.size()).mapToLong(batch.numbers()::number))
        .boxed()
        .toList();
  }

  private static List<Long> all(long count) {
    return LongStream.range(0, count).boxed().toList();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 99, 100, 101, 299, 300, 650, COUNT})
  void splitsTogetherHaveEachNumberOnce(long count) {
    List<NumberBatch> batches = new ArrayList<>();
    for (InterleavedNumbers split : splits(3, count)) {
      List<NumberBatch> ofSplit = rest(reader(64, List.of(split)));
      assertThat(numbers(ofSplit)).isSorted().hasSize((int) split.size());
      batches.addAll(ofSplit);
    }
    assertThat(numbers(batches)).containsExactlyInAnyOrderElementsOf(all(count));
  }

  @Test
  void aSplitHasEveryThirdBlock() {
    InterleavedNumbers split = InterleavedNumbers.of(1, 3, NexmarkOptions.UNBOUNDED);
    assertThat(LongStream.of(0, 99, 100, 200).map(split::number).boxed())
        .containsExactly(100L, 199L, 400L, 700L);
    assertThat(split.isEmpty()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 64, 250, 100_000})
  void aReaderResumesAtThePositionOfAnotherWithOtherBatches(int batchRows) {
    InterleavedNumberReader first = reader(64, splits(3, COUNT));
    Collected before = new Collected();
    for (int i = 0; i < 40; i++) {
      assertThat(first.pollNext(before)).isEqualTo(InputStatus.MORE_AVAILABLE);
    }
    List<NumberBatch> batches = new ArrayList<>(before.batches);
    batches.addAll(rest(reader(batchRows, first.snapshotState(1))));
    assertThat(numbers(batches)).containsExactlyInAnyOrderElementsOf(all(COUNT));
    assertThat(batches).allSatisfy(batch -> assertThat(batch.numbers().isEmpty()).isFalse());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void theNumbersAfterABatchAreNotBelowItsBound(int splitCount) {
    List<NumberBatch> batches = rest(reader(170, splits(splitCount, COUNT)));
    long lowest = Long.MAX_VALUE;
    for (int i = batches.size() - 1; i >= 0; i--) {
      NumberBatch batch = batches.get(i);
      assertThat(batch.following()).isLessThanOrEqualTo(lowest);
      assertThat(lowest == Long.MAX_VALUE || batch.following() == lowest).isTrue();
      lowest = Math.min(lowest, batch.numbers().number(0));
    }
    assertThat(lowest).isZero();
  }

  @Test
  void splitsAreSerialized() throws Exception {
    var serializer = new InterleavedNumbersSerializer().ofOne();
    InterleavedNumbers split = new InterleavedNumbers(2, 7, 16, 1000);
    byte[] bytes = serializer.serialize(split);
    assertThat(serializer.deserialize(serializer.getVersion(), bytes)).isEqualTo(split);
    assertThatThrownBy(() -> serializer.deserialize(1, bytes))
        .isInstanceOf(IOException.class)
        .hasMessage("splits of version 1 cannot be read, only 2");
  }
}
