package io.millrace.connectors.nexmark;

import org.apache.flink.api.connector.source.SourceSplit;

/**
 * A split of the numbers from 0: {@code next}, {@code next + step} and so on, below {@code end}.
 *
 * @param index which of the splits it is, from 0
 */
record InterleavedNumbers(int index, long next, long step, long end) implements SourceSplit {
  @Override
  public String splitId() {
    return Integer.toString(index);
  }

  boolean isEmpty() {
    return next >= end;
  }

  /** What is left behind {@link #next}. */
  InterleavedNumbers rest() {
    return new InterleavedNumbers(index, next + step, step, end);
  }
}
