// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.message;

import io.millrace.connectors.files.message.MessageRows.RowLimit;
import org.apache.flink.annotation.Internal;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.MutableRecordAndPosition;
import org.apache.flink.connector.file.src.util.RecordAndPosition;

/**
 * The parts of a message from a row on; one of no rows if the message has none. The position of a
 * part that is not the last is the message's offset and the number of rows before the next part.
 */
@Internal
public final class MessageParts implements BulkFormat.RecordIterator<MessageRows> {
  private final String path;
  private final byte[] message;
  private final int rows;
  private final long start;
  private final long end;
  private final RowLimit limit;
  private final MutableRecordAndPosition<MessageRows> part = new MutableRecordAndPosition<>();
  private int nextRow;
  private boolean isDone;

  /**
   * @param path of the file
   * @param firstRow the rows of the message before it were read before
   * @param rows of the whole message
   * @param start offset of the message in the file
   * @param end offset that the reader goes on at behind the message
   */
  public MessageParts(
      String path, byte[] message, int firstRow, int rows, long start, long end, RowLimit limit) {
    this.path = path;
    this.message = message;
    this.nextRow = firstRow;
    this.rows = rows;
    this.start = start;
    this.end = end;
    this.limit = limit;
  }

  @Override
  public RecordAndPosition<MessageRows> next() {
    if (isDone || limit.isEnded()) {
      return null;
    }
    MessageRows next = new MessageRows(path, message, nextRow, limit.next(rows - nextRow), limit);
    nextRow += next.rows();
    isDone = nextRow == rows;
    part.set(next, isDone ? end : start, isDone ? 0 : nextRow);
    return part;
  }

  @Override
  public void releaseBatch() {}
}
