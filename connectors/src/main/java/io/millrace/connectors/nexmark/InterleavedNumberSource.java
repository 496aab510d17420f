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
 * The numbers from 0, dealt out to the subtasks in turn, so that all of them are at about the same
 * number at a time. (Flink's number sequence gives each subtask one range: event times that follow
 * the numbers would be far apart.) Each number once, over failures and rescaling.
 */
final class InterleavedNumberSource
    implements Source<Long, InterleavedNumbers, Collection<InterleavedNumbers>>,
        ResultTypeQueryable<Long> {
  private static final long serialVersionUID = 1L;

  private final long count;
  private final double perSecond;

  /**
   * @param count how many numbers; {@link Long#MAX_VALUE} for ever
   * @param perSecond of all subtasks together; infinite for as fast as possible
   */
  InterleavedNumberSource(long count, double perSecond) {
    this.count = count;
    this.perSecond = perSecond;
  }

  @Override
  public Boundedness getBoundedness() {
    return count == Long.MAX_VALUE ? Boundedness.CONTINUOUS_UNBOUNDED : Boundedness.BOUNDED;
  }

  @Override
  public SourceReader<Long, InterleavedNumbers> createReader(SourceReaderContext context) {
    SourceReader<Long, InterleavedNumbers> reader = new InterleavedNumberReader();
    return Double.isInfinite(perSecond)
        ? reader
        : new RateLimitedSourceReader<>(
            reader, new GuavaRateLimiter<>(perSecond / context.currentParallelism()));
  }

  @Override
  public SplitEnumerator<InterleavedNumbers, Collection<InterleavedNumbers>> createEnumerator(
      SplitEnumeratorContext<InterleavedNumbers> context) {
    int splitCount = context.currentParallelism();
    List<InterleavedNumbers> splits = new ArrayList<>();
    for (int i = 0; i < splitCount; i++) {
      splits.add(new InterleavedNumbers(i, i, splitCount, count));
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
  public TypeInformation<Long> getProducedType() {
    return Types.LONG;
  }
}
