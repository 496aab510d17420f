// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import org.apache.flink.annotation.Internal;

/**
 * The numbers of a batch's rows, at least one.
 *
 * <p>Public because Flink serializes it.
 *
 * @param following what the subtask gives later are this number and higher ones; with several
 *     splits it may be below those of this batch
 */
@Internal
public record NumberBatch(InterleavedNumbers numbers, long following) {
  int size() {
    return (int) numbers.size();
  }
}
