// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.PublicEvolving;

/**
 * What expressions may ask for besides the columns: values that are the same for all rows of a
 * batch. Whoever evaluates a batch reads the clock once and passes the same context again if an
 * attempt is repeated.
 *
 * @param processingTime the time at which the batch is evaluated, in milliseconds since the epoch
 * @param watermark the event time of the watermark before the batch, in milliseconds since the
 *     epoch; {@link #NO_WATERMARK} before the first watermark
 * @param randomSeed the seed of random numbers that have no seed of their own
 * @param firstRow the number of rows that were evaluated before the first row of the table
 */
@PublicEvolving
public record BatchContext(long processingTime, long watermark, long randomSeed, long firstRow) {
  /** The {@link #watermark} before the first one. */
  public static final long NO_WATERMARK = Long.MIN_VALUE;

  /** The context of rows that follow {@code rows} other rows of the batch. */
  public BatchContext behind(long rows) {
    return new BatchContext(processingTime, watermark, randomSeed, firstRow + rows);
  }
}
