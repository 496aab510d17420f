// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import org.apache.flink.annotation.Internal;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * A split of the row numbers from 0. Blocks of {@value #BLOCK_ROWS} numbers are dealt out to the
 * splits in turn; a split's numbers, put one behind the other, have positions from 0. So a position
 * means the same number whatever the rows of a batch, which may change at a restore.
 *
 * <p>Public because Flink serializes it as a field of {@link NumberBatch}.
 *
 * @param index which of the splits it is, from 0
 * @param splitCount how many splits there are
 * @param next position of the first number that is left
 * @param end position behind the last number
 */
@Internal
public record InterleavedNumbers(int index, int splitCount, long next, long end)
    implements SourceSplit {
  // Two epochs of events, so that the kinds of events are mixed alike in all splits.
  static final int BLOCK_ROWS = 2 * NexmarkModel.EVENTS_PER_EPOCH;

  /** Split {@code index} of the numbers below {@code count}. */
  static InterleavedNumbers of(int index, int splitCount, long count) {
    long blocks = count / BLOCK_ROWS;
    long end = (blocks + splitCount - 1 - index) / splitCount * BLOCK_ROWS;
    boolean hasLastBlock = blocks % splitCount == index;
    return new InterleavedNumbers(
        index, splitCount, 0, hasLastBlock ? end + count % BLOCK_ROWS : end);
  }

  @Override
  public String splitId() {
    return Integer.toString(index);
  }

  boolean isEmpty() {
    return next >= end;
  }

  long size() {
    return end - next;
  }

  /** The number {@code offset} positions behind {@link #next}, which may be the end or beyond. */
  long number(long offset) {
    long position = next + offset;
    return (position / BLOCK_ROWS * splitCount + index) * BLOCK_ROWS + position % BLOCK_ROWS;
  }

  /** The first {@code rows} numbers, or all if there are fewer. */
  InterleavedNumbers first(int rows) {
    return new InterleavedNumbers(index, splitCount, next, next + Math.min(rows, size()));
  }

  /** The numbers behind {@link #first}. */
  InterleavedNumbers rest(int rows) {
    return new InterleavedNumbers(index, splitCount, next + Math.min(rows, size()), end);
  }
}
