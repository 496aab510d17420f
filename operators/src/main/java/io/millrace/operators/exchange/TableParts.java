// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.operators.batch.ColumnBatch;
import java.util.ArrayDeque;
import java.util.Deque;

/** The parts of a table. All parts are made before the first is sent. Used by one thread. */
final class TableParts implements AutoCloseable {
  private final Deque<Part> parts = new ArrayDeque<>();

  private record Part(ColumnBatch batch, long encodedBytes) {}

  /** Takes ownership of {@code batch}. */
  void add(ColumnBatch batch, long encodedBytes) {
    parts.add(new Part(batch, encodedBytes));
  }

  /** Passes all parts to {@code output}, in order. If this fails, releases the others. */
  void sendTo(TableSplitter.Output output) {
    try (this) {
      while (!parts.isEmpty()) {
        Part part = parts.remove();
        output.accept(part.batch, part.encodedBytes);
      }
    }
  }

  /** Releases the parts that were not passed on. */
  @Override
  public void close() {
    while (!parts.isEmpty()) {
      parts.remove().batch.release();
    }
  }
}
