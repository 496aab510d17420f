// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.message;

import io.millrace.connectors.files.scan.ScanEnd;
import io.millrace.operators.context.SendPace;
import org.apache.flink.annotation.Internal;

/** Rows of a message, whose bytes all of its parts share. */
@Internal
public final class MessageRows {
  private final String path;
  private final byte[] message;
  private final int firstRow;
  private final int rows;
  private final RowLimit limit;

  /**
   * @param path of the file that the message is from
   * @param message the whole message, which nobody changes
   * @param rows of the part; 0 only for a message without rows
   * @param limit where the operator behind the reader says how many rows the next part is to have
   */
  MessageRows(String path, byte[] message, int firstRow, int rows, RowLimit limit) {
    this.path = path;
    this.message = message;
    this.firstRow = firstRow;
    this.rows = rows;
    this.limit = limit;
  }

  public String path() {
    return path;
  }

  public byte[] message() {
    return message;
  }

  public int firstRow() {
    return firstRow;
  }

  public int rows() {
    return rows;
  }

  public RowLimit limit() {
    return limit;
  }

  /**
   * How many rows the reader of a file puts into a part. The reader's task thread asks, and the
   * operator in its chain answers while it is sent a part. An operator that is not in the chain
   * cannot answer: then parts are whole messages from the second on.
   */
  public static final class RowLimit {
    private final ScanEnd end;
    private int rows;
    private boolean isAnswered = true;

    /**
     * A limit of {@link SendPace#FIRST_ROWS} rows for the first part.
     *
     * @param end of the subtask's readers
     */
    public RowLimit(ScanEnd end) {
      this.end = end;
      this.rows = SendPace.FIRST_ROWS;
    }

    /** Rows of the next part, of {@code remaining} ones that are left. */
    int next(int remaining) {
      int next = isAnswered ? Math.min(rows, remaining) : remaining;
      isAnswered = false;
      return next;
    }

    /** Asks for no further part of any file. */
    public void end() {
      end.reach();
    }

    /** Whether no further part is wanted. */
    public boolean isEnded() {
      return end.isReached();
    }

    /** Asks for this many rows in the next part; at least 1. */
    public void set(int newRows) {
      rows = newRows;
      isAnswered = true;
    }
  }
}
