// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.operators.wire.SchemaFormat;
import io.millrace.state.StateBlock;
import io.millrace.state.StateSchema;
import io.millrace.state.StateSnapshot;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.core.memory.DataOutputViewStreamWrapper;

/**
 * The rows of a subtask's keyed state in a checkpoint. The same bytes on every device. A header:
 * the format's number, the version, an identifier, the key columns, the values, the number of rows.
 * Then blocks of rows, each with its number of rows and the CRC-32C of its bytes. Numbers are
 * big-endian; rows have the layout of {@link StateSchema}, in little-endian words.
 *
 * <p>All key groups of a subtask are in one sequence of rows: a reader takes the rows of its own
 * key groups.
 */
final class StateFormat {
  private static final int MAGIC = 0x4d4c5253;
  private static final int VERSION = 1;
  private static final int BUFFER_BYTES = 64 << 10;

  private StateFormat() {}

  /**
   * What a checkpoint says about its rows.
   *
   * @param id of the sequence of rows
   * @param values the accumulators: the name of the function and of the value, and its type
   */
  record Header(UUID id, Schema keys, Schema values, long rowCount) {

    /** The header of the rows of a table of {@code schema}. */
    static Header of(UUID id, StateSchema schema, long rowCount) {
      Schema keys = schema.keySchema();
      Schema changes = schema.changes();
      Schema values =
          new Schema(
              schema.accumulators().stream()
                  .map(
                      accumulator ->
                          new Field(
                              accumulator.function() + "(" + accumulator.name() + ")",
                              changes.type(changes.indexOf(accumulator.name())),
                              false))
                  .toList());
      return new Header(id, keys, values, rowCount);
    }

    /**
     * Checks that a table of {@code schema} can take the rows.
     *
     * @throws IOException if the keys or the values differ
     */
    void checkFits(StateSchema schema) throws IOException {
      Header expected = of(id, schema, rowCount);
      if (!keys.equals(expected.keys)) {
        throw new IOException(
            "the checkpoint has state for the key " + keys + ", and the job has " + expected.keys);
      }
      if (!values.equals(expected.values)) {
        throw new IOException(
            "the checkpoint has state with " + values + ", and the job has " + expected.values);
      }
    }
  }

  /** Writes all rows of {@code snapshot}. Copies from the device on {@code stream}. */
  static void write(StateSnapshot snapshot, DeviceStream stream, OutputStream target)
      throws IOException {
    Header header = Header.of(UUID.randomUUID(), snapshot.schema(), snapshot.rowCount());
    DataOutputViewStreamWrapper view = new DataOutputViewStreamWrapper(target);
    view.writeInt(MAGIC);
    view.writeInt(VERSION);
    view.writeLong(header.id.getMostSignificantBits());
    view.writeLong(header.id.getLeastSignificantBits());
    SchemaFormat.write(header.keys, view);
    SchemaFormat.write(header.values, view);
    view.writeLong(header.rowCount);
    byte[] buffer = new byte[BUFFER_BYTES];
    snapshot.read(stream, block -> write(block, view, buffer));
    view.flush();
  }

  private static void write(StateBlock block, DataOutputStream target, byte[] buffer)
      throws IOException {
    target.writeInt(block.rowCount());
    target.writeInt(checksum(block));
    for (int done = 0; done < block.byteCount(); ) {
      int bytes = Math.min(buffer.length, block.byteCount() - done);
      HostMemory.copyToArray(buffer, 0, block.address() + done, bytes);
      target.write(buffer, 0, bytes);
      done += bytes;
    }
  }

  private static int checksum(StateBlock block) {
    CRC32C checksum = new CRC32C();
    checksum.update(HostMemory.byteBuffer(block.address(), block.byteCount()));
    return (int) checksum.getValue();
  }

  /**
   * Reads the header; the blocks follow.
   *
   * @throws IOException if these are not rows of keyed state, or of a later version
   */
  static Header readHeader(InputStream source) throws IOException {
    DataInputViewStreamWrapper view = new DataInputViewStreamWrapper(source);
    int magic = view.readInt();
    if (magic != MAGIC) {
      throw new IOException(
          String.format("expected keyed state, which begins with %08x, got %08x", MAGIC, magic));
    }
    int version = view.readInt();
    if (version != VERSION) {
      throw new IOException(
          "expected keyed state of version " + VERSION + ", got version " + version);
    }
    UUID id = new UUID(view.readLong(), view.readLong());
    return new Header(id, SchemaFormat.read(view), SchemaFormat.read(view), view.readLong());
  }

  /** Takes a block of rows, which the reader closes. */
  @FunctionalInterface
  interface BlockConsumer {
    void accept(StateBlock block) throws IOException;
  }

  /**
   * Reads the blocks behind {@code header}.
   *
   * @param device that the rows go to
   * @throws IOException if the rows end too early or a block has another checksum than it says
   */
  static void readBlocks(
      Header header, StateSchema schema, Device device, InputStream source, BlockConsumer consumer)
      throws IOException {
    DataInputStream input = new DataInputStream(source);
    byte[] buffer = new byte[BUFFER_BYTES];
    for (long done = 0; done < header.rowCount; ) {
      int rows = input.readInt();
      int checksum = input.readInt();
      if (rows < 1 || rows > StateSnapshot.BLOCK_BYTES / schema.rowBytes()) {
        throw new IOException(
            "keyed state is damaged: a block behind row " + done + " has " + rows + " rows");
      }
      try (StateBlock block = new StateBlock(schema, rows, device)) {
        read(input, block, buffer);
        if (checksum(block) != checksum) {
          throw new IOException(
              "keyed state is damaged: rows from row " + done + " on have another checksum");
        }
        done += rows;
        consumer.accept(block);
      }
    }
  }

  private static void read(DataInputStream source, StateBlock block, byte[] buffer)
      throws IOException {
    for (int done = 0; done < block.byteCount(); ) {
      int bytes = source.read(buffer, 0, Math.min(buffer.length, block.byteCount() - done));
      if (bytes < 0) {
        throw new EOFException(
            "keyed state is damaged: it ends " + (block.byteCount() - done) + " bytes too early");
      }
      HostMemory.copyFromArray(block.address() + done, buffer, 0, bytes);
      done += bytes;
    }
  }
}
