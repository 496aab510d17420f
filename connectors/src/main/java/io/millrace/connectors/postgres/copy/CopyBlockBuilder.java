// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.flink.annotation.Internal;

/**
 * Collects rows of {@code COPY ... TO STDOUT (FORMAT binary)} in blocks for {@link
 * CopyBinaryDecoder}. The last field of each row is text that says where the row lies, and is not
 * part of the block. Used by one thread.
 */
@Internal
public final class CopyBlockBuilder {
  private final int maxRows;
  private final int maxBytes;
  private ByteBuffer block;
  // The message of the last row, and where its text lies.
  private byte[] position = {};
  private int positionStart;
  private int positionLength;
  private int rows;
  private boolean isHeaderRead;

  /**
   * @param maxRows the most rows of a block
   * @param maxBytes a block is full when it has as many, with whatever its last row has
   */
  public CopyBlockBuilder(int maxRows, int maxBytes) {
    this.maxRows = maxRows;
    this.maxBytes = maxBytes;
    this.block = ByteBuffer.allocate(1 << 16);
  }

  /** Begins with a COPY. */
  public void start() {
    isHeaderRead = false;
    block.clear();
    rows = 0;
  }

  /**
   * Adds what one message of the server has: the header, whole rows, the trailer, or several of
   * them.
   *
   * @return whether more rows may follow
   * @throws IllegalArgumentException if it is not of the format
   */
  public boolean add(byte[] message) {
    ByteBuffer in = ByteBuffer.wrap(message);
    if (!isHeaderRead) {
      CopyFormat.skipHeader(in);
      isHeaderRead = true;
    }
    while (in.hasRemaining()) {
      int fields = in.getShort();
      if (fields == CopyFormat.END_OF_ROWS) {
        return false;
      }
      int start = in.position();
      for (int i = 1; i < fields; i++) {
        int length = in.getInt();
        in.position(in.position() + Math.max(0, length));
      }
      int end = in.position();
      int length = in.getInt();
      addRow(message, start, end, fields - 1);
      position = message;
      positionStart = in.position();
      positionLength = length;
      in.position(positionStart + length);
    }
    return true;
  }

  private void addRow(byte[] message, int start, int end, int fields) {
    int bytes = Short.BYTES + end - start;
    if (block.remaining() < bytes) {
      int needed = Math.addExact(block.position(), bytes);
      int larger = (int) Math.max(needed, Math.min(block.capacity() * 2L, 1L << 30));
      block = ByteBuffer.wrap(Arrays.copyOf(block.array(), larger)).position(block.position());
    }
    block.putShort((short) fields).put(message, start, end - start);
    rows++;
  }

  public boolean isFull() {
    return rows >= maxRows || block.position() >= maxBytes;
  }

  /** The number of rows of the block. */
  public int rows() {
    return rows;
  }

  /** The text behind the last row. */
  public String position() {
    return new String(position, positionStart, positionLength, StandardCharsets.UTF_8);
  }

  /** The block, which the caller owns; the next one is empty. */
  public byte[] finish() {
    byte[] finished = Arrays.copyOf(block.array(), block.position());
    block.clear();
    rows = 0;
    return finished;
  }
}
