package io.millrace.connectors.nexmark;

import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.flink.api.connector.source.lib.util.IteratorSourceSplit;

/**
 * A split of the numbers from 0: {@code next}, {@code next + step} and so on, below {@code end}.
 * Immutable.
 */
record InterleavedNumbers(String splitId, long next, long step, long end)
    implements IteratorSourceSplit<Long, InterleavedNumbers.Numbers> {

  @Override
  public Numbers getIterator() {
    return new Numbers(this);
  }

  @Override
  public InterleavedNumbers getUpdatedSplitForIterator(Numbers numbers) {
    return new InterleavedNumbers(splitId, numbers.next, step, end);
  }

  /** The numbers of a split. */
  static final class Numbers implements Iterator<Long> {
    private final long step;
    private final long end;
    private long next;

    Numbers(InterleavedNumbers split) {
      this.step = split.step;
      this.end = split.end;
      this.next = split.next;
    }

    @Override
    public boolean hasNext() {
      return next < end;
    }

    @Override
    public Long next() {
      if (!hasNext()) {
        throw new NoSuchElementException(next + " is not below " + end);
      }
      long number = next;
      next += step;
      return number;
    }
  }
}
