// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.util.ratelimit.GuavaRateLimiter;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimitedSourceReader;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * The row numbers from 0, dealt out to the subtasks in turn, so that all of them are at about the
 * same number at a time. (Flink's number sequence gives each subtask one range: event times that
 * follow the numbers would be far apart.) Each number once, over failures, rescaling and restores
 * with another rate or other batches. A restored job keeps the count of its first start.
 */
final class InterleavedNumberSource
    implements Source<NumberBatch, InterleavedNumbers, Collection<InterleavedNumbers>>,
        ResultTypeQueryable<NumberBatch> {
  private static final long serialVersionUID = 1L;

  private final long count;
  private final int batchRows;
  private final double batchesPerSecond;

  /**
   * @param count how many numbers; {@link Long#MAX_VALUE} for ever
   * @param batchRows the most numbers of a batch
   * @param batchesPerSecond of all subtasks together; infinite for as fast as possible
   */
  InterleavedNumberSource(long count, int batchRows, double batchesPerSecond) {
    this.count = count;
    this.batchRows = batchRows;
    this.batchesPerSecond = batchesPerSecond;
  }

  @Override
  public Boundedness getBoundedness() {
    return count == Long.MAX_VALUE ? Boundedness.CONTINUOUS_UNBOUNDED : Boundedness.BOUNDED;
  }

  @Override
  public SourceReader<NumberBatch, InterleavedNumbers> createReader(SourceReaderContext context) {
    SourceReader<NumberBatch, InterleavedNumbers> reader = new InterleavedNumberReader(batchRows);
    return Double.isInfinite(batchesPerSecond)
        ? reader
        : new RateLimitedSourceReader<>(
            reader, new GuavaRateLimiter<>(batchesPerSecond / context.currentParallelism()));
  }

  @Override
  public SplitEnumerator<InterleavedNumbers, Collection<InterleavedNumbers>> createEnumerator(
      SplitEnumeratorContext<InterleavedNumbers> context) {
    int splitCount = context.currentParallelism();
    List<InterleavedNumbers> splits = new ArrayList<>();
    for (int i = 0; i < splitCount; i++) {
      splits.add(InterleavedNumbers.of(i, splitCount, count));
    }
    return new InterleavedNumberEnumerator(context, splits);
  }

  @Override
  public SplitEnumerator<InterleavedNumbers, Collection<InterleavedNumbers>> restoreEnumerator(
      SplitEnumeratorContext<InterleavedNumbers> context,
      Collection<InterleavedNumbers> remaining) {
    return new InterleavedNumberEnumerator(context, remaining);
  }

  @Override
  public SimpleVersionedSerializer<InterleavedNumbers> getSplitSerializer() {
    return new InterleavedNumbersSerializer().ofOne();
  }

  @Override
  public SimpleVersionedSerializer<Collection<InterleavedNumbers>>
      getEnumeratorCheckpointSerializer() {
    return new InterleavedNumbersSerializer();
  }

  @Override
  public TypeInformation<NumberBatch> getProducedType() {
    return Types.POJO(NumberBatch.class);
  }
}
