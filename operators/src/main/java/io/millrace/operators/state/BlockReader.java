// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.Device;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.state.StateFormat.TableRows;
import io.millrace.state.StateBlock;
import io.millrace.state.StateSnapshot;
import io.millrace.state.row.StateSchema;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;

/** Reads the blocks that {@link BlockWriter} wrote, also those of earlier versions. */
final class BlockReader {
  private final StateSchema schema;
  private final Device device;
  private final GpuRetry retry;
  private final CheckpointBytes bytes = new CheckpointBytes(false);

  /** Takes a block of rows of a table, which the reader closes. */
  @FunctionalInterface
  interface Consumer {
    void accept(long namespace, StateBlock block) throws IOException;
  }

  /** How the rows and the strings of a block are written. */
  enum Encoding {
    /** As they are: in earlier versions. */
    PLAIN,
    /** As {@link CheckpointBytes}. */
    PIECES
  }

  /**
   * @param schema with the layout of the rows
   * @param device that the rows go to
   */
  BlockReader(StateSchema schema, Device device, GpuRetry retry) {
    this.schema = schema;
    this.device = device;
    this.retry = retry;
  }

  /**
   * Reads blocks with the rows of a table, or of a part of one.
   *
   * @throws EOFException if the rows end too early
   * @throws IOException if a block has another checksum than it says, or lacks the long strings of
   *     its rows
   */
  void read(TableRows table, Encoding encoding, DataInputStream source, Consumer consumer)
      throws IOException {
    for (long done = 0; done < table.rowCount(); ) {
      int rows = readRowCount(source, table.rowCount() - done);
      long strings = schema.hasStrings() ? readStringBytes(source) : 0;
      int checksum = source.readInt();
      try (StateBlock block =
          retry.withRetry(() -> new StateBlock(schema, rows, strings, device))) {
        read(encoding, source, block.address(), block.byteCount());
        read(encoding, source, block.stringAddress(), block.stringBytes());
        check(block, checksum, done);
        done += rows;
        consumer.accept(table.namespace(), block);
      }
    }
  }

  private int readRowCount(DataInputStream source, long rowsLeft) throws IOException {
    int rows = source.readInt();
    long most = Math.min(rowsLeft, StateSnapshot.BLOCK_BYTES / schema.rowBytes());
    if (rows < 1 || rows > most) {
      throw new IOException(
          "keyed state is damaged: expected a block of 1 to " + most + " rows, got " + rows);
    }
    return rows;
  }

  private static long readStringBytes(DataInputStream source) throws IOException {
    long bytes = source.readLong();
    if (source.readInt() != BlockWriter.checksum(bytes)) {
      throw new IOException("keyed state is damaged: the size of strings has another checksum");
    }
    if (bytes < 0 || bytes % Long.BYTES != 0) {
      throw new IOException(
          "keyed state is damaged: expected strings of whole words, got " + bytes + " bytes");
    }
    return bytes;
  }

  private void read(Encoding encoding, DataInputStream source, long address, long size)
      throws IOException {
    if (encoding == Encoding.PLAIN) {
      bytes.readPlain(source, address, size);
    } else {
      bytes.read(source, address, size);
    }
  }

  private static void check(StateBlock block, int checksum, long row) throws IOException {
    if (BlockWriter.checksum(block) != checksum) {
      throw new IOException(
          "keyed state is damaged: rows from row " + row + " on have another checksum");
    }
    if (!block.hasAllStrings()) {
      throw new IOException(
          "keyed state is damaged: rows from row " + row + " on lack their strings");
    }
  }
}
