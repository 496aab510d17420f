// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.operators.batch.ColumnBatch;
import java.util.ArrayDeque;
import java.util.Deque;

/** The parts of a table that are all made before the first is sent. Used by one thread. */
final class TableParts implements AutoCloseable {
  private final Deque<Part> parts = new ArrayDeque<>();

  private record Part(ColumnBatch batch, long encodedBytes) {}

  /** Takes ownership of {@code batch}. */
  void add(ColumnBatch batch, long encodedBytes) {
    parts.add(new Part(batch, encodedBytes));
  }

  /** Hands all parts on, in order, and closes this if that fails. */
  void sendTo(TableSplitter.Output output) {
    try (this) {
      while (!parts.isEmpty()) {
        Part part = parts.remove();
        output.accept(part.batch, part.encodedBytes);
      }
    }
  }

  /** Releases the parts that were not handed on. */
  @Override
  public void close() {
    while (!parts.isEmpty()) {
      parts.remove().batch.release();
    }
  }
}
