// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.arrow;

/** Rows of an Arrow IPC record batch message, whose bytes all of its parts share. */
final class ArrowRows {
  private final byte[] message;
  private final int firstRow;
  private final int rows;
  private final RowLimit limit;

  /**
   * @param message the whole message, which nobody changes
   * @param rows of the part; 0 only for a record batch without rows
   * @param limit where the operator behind the reader says how many rows the next part is to have
   */
  ArrowRows(byte[] message, int firstRow, int rows, RowLimit limit) {
    this.message = message;
    this.firstRow = firstRow;
    this.rows = rows;
    this.limit = limit;
  }

  byte[] message() {
    return message;
  }

  int firstRow() {
    return firstRow;
  }

  int rows() {
    return rows;
  }

  RowLimit limit() {
    return limit;
  }

  /**
   * How many rows the reader of a file puts into a part. The reader's task thread asks, and the
   * operator in its chain answers while it is sent a part. An operator that is not in the chain
   * cannot answer: then parts are whole record batches from the second on.
   */
  static final class RowLimit {
    private int rows;
    private boolean isAnswered = true;

    /**
     * @param firstRows of the first part
     */
    RowLimit(int firstRows) {
      this.rows = firstRows;
    }

    /** Rows of the next part, of {@code remaining} ones that are left. */
    int next(int remaining) {
      int next = isAnswered ? Math.min(rows, remaining) : remaining;
      isAnswered = false;
      return next;
    }

    /** Asks for this many rows in the next part; at least 1. */
    void set(int newRows) {
      rows = newRows;
      isAnswered = true;
    }
  }
}
