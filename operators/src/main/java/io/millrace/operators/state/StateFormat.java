// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.wire.SchemaFormat;
import io.millrace.state.Accumulator;
import io.millrace.state.StateBlock;
import io.millrace.state.StateSchema;
import io.millrace.state.StateSnapshot;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * The rows of a subtask's keyed state in a checkpoint. The same bytes on every device. First the
 * format's number and the version; then a header, with its length before it and its CRC-32C behind
 * it: an identifier, the key columns, the values, the number of rows. Then blocks of rows, each
 * with its number of rows and the CRC-32C of its bytes. Numbers are big-endian; rows have the
 * layout of {@link StateSchema}, in little-endian words.
 *
 * <p>All key groups of a subtask are in one sequence of rows: a reader takes the rows of its own
 * key groups.
 */
final class StateFormat {
  private static final int MAGIC = 0x4d4c5253;
  private static final int VERSION = 1;
  private static final int MAX_HEADER_BYTES = 16 << 20;
  private static final int BUFFER_BYTES = 64 << 10;

  private StateFormat() {}

  /**
   * What a checkpoint says about its rows.
   *
   * @param id of the sequence of rows
   * @param values {@link StateSchema#wordSchema} of the accumulators
   */
  record Header(UUID id, Schema keys, Schema values, long rowCount) {

    /** The header of the rows of a table of {@code schema}. */
    static Header of(UUID id, StateSchema schema, long rowCount) {
      return new Header(id, schema.keySchema(), schema.wordSchema(), rowCount);
    }

    /**
     * The positions of the words that a table of {@code schema} keeps, in the order of its
     * accumulators. The checkpoint may have further words.
     *
     * @throws IOException if the keys differ, a value is missing, or a value has another type; an
     *     integer's type may become wider
     */
    int[] positions(StateSchema schema) throws IOException {
      Header job = of(id, schema, rowCount);
      if (!keys.equals(job.keys)) {
        throw new IOException(
            "the checkpoint has state for the key " + keys + ", and the job has " + job.keys);
      }
      int[] positions = new int[job.values.size()];
      for (int i = 0; i < positions.length; i++) {
        positions[i] = position(job.values.field(i));
        if (positions[i] < 0) {
          throw new IOException(
              "the checkpoint has state with " + values + ", and the job has " + job.values);
        }
      }
      return positions;
    }

    private int position(Field value) {
      for (int i = 0; i < values.size(); i++) {
        if (values.field(i).name().equals(value.name())
            && canBecome(values.type(i), value.type())) {
          return i;
        }
      }
      return -1;
    }

    // The word of an integer does not depend on the integer's width.
    private static boolean canBecome(DataType type, DataType wider) {
      return type.equals(wider)
          || (type.isInteger()
              && wider.isInteger()
              && type.id().byteWidth() < wider.id().byteWidth());
    }

    /** A schema with the layout of the rows, for a table of {@code schema} with the same keys. */
    StateSchema layout(StateSchema schema) {
      return new StateSchema(
          schema.input(),
          schema.keys(),
          values.fields().stream().map(value -> Accumulator.countRows(value.name())).toList(),
          StateSchema.NO_KINDS);
    }
  }

  /** Writes all rows of {@code snapshot}. Copies from the device on {@code stream}. */
  static void write(
      StateSnapshot snapshot, DeviceStream stream, GpuRetry retry, OutputStream target)
      throws IOException {
    DataOutputStream output = new DataOutputStream(target);
    output.writeInt(MAGIC);
    output.writeInt(VERSION);
    byte[] header = header(Header.of(UUID.randomUUID(), snapshot.schema(), snapshot.rowCount()));
    output.writeInt(header.length);
    output.write(header);
    output.writeInt(checksum(ByteBuffer.wrap(header)));
    byte[] buffer = new byte[BUFFER_BYTES];
    for (long row = 0; row < snapshot.rowCount(); ) {
      long first = row;
      try (StateBlock block = retry.withRetry(() -> snapshot.block(first, stream))) {
        write(block, output, buffer);
        row += block.rowCount();
      }
    }
    output.flush();
  }

  private static byte[] header(Header header) throws IOException {
    DataOutputSerializer target = new DataOutputSerializer(BUFFER_BYTES);
    target.writeLong(header.id.getMostSignificantBits());
    target.writeLong(header.id.getLeastSignificantBits());
    SchemaFormat.write(header.keys, target);
    SchemaFormat.write(header.values, target);
    target.writeLong(header.rowCount);
    return target.getCopyOfBuffer();
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
    return checksum(HostMemory.byteBuffer(block.address(), block.byteCount()));
  }

  private static int checksum(ByteBuffer bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return (int) checksum.getValue();
  }

  /**
   * Reads the header; the blocks follow.
   *
   * @throws IOException if these are not rows of keyed state, or of a later version, or the header
   *     is damaged
   */
  static Header readHeader(InputStream source) throws IOException {
    try {
      return readHeader(new DataInputStream(source));
    } catch (EOFException e) {
      throw new IOException("keyed state is damaged: it ends within its header", e);
    }
  }

  private static Header readHeader(DataInputStream source) throws IOException {
    int magic = source.readInt();
    if (magic != MAGIC) {
      throw new IOException(
          String.format("expected keyed state, which begins with %08x, got %08x", MAGIC, magic));
    }
    int version = source.readInt();
    if (version != VERSION) {
      throw new IOException(
          "expected keyed state of version " + VERSION + ", got version " + version);
    }
    int bytes = source.readInt();
    if (bytes < 0 || bytes > MAX_HEADER_BYTES) {
      throw new IOException("keyed state is damaged: its header has " + bytes + " bytes");
    }
    byte[] header = new byte[bytes];
    source.readFully(header);
    if (source.readInt() != checksum(ByteBuffer.wrap(header))) {
      throw new IOException("keyed state is damaged: its header has another checksum");
    }
    return header(new DataInputDeserializer(header));
  }

  private static Header header(DataInputView source) throws IOException {
    UUID id = new UUID(source.readLong(), source.readLong());
    return new Header(id, SchemaFormat.read(source), SchemaFormat.read(source), source.readLong());
  }

  /** Takes a block of rows, which the reader closes. */
  @FunctionalInterface
  interface BlockConsumer {
    void accept(StateBlock block) throws IOException;
  }

  /**
   * Reads the blocks behind {@code header}.
   *
   * @param schema with the layout of the rows
   * @param device that the rows go to
   * @throws IOException if the rows end too early or a block has another checksum than it says
   */
  static void readBlocks(
      Header header,
      StateSchema schema,
      Device device,
      GpuRetry retry,
      InputStream source,
      BlockConsumer consumer)
      throws IOException {
    DataInputStream input = new DataInputStream(source);
    byte[] buffer = new byte[BUFFER_BYTES];
    try {
      for (long done = 0; done < header.rowCount; ) {
        int rows = readRowCount(input, header.rowCount - done, schema);
        int checksum = input.readInt();
        try (StateBlock block = retry.withRetry(() -> new StateBlock(schema, rows, device))) {
          read(input, block, buffer);
          if (checksum(block) != checksum) {
            throw new IOException(
                "keyed state is damaged: rows from row " + done + " on have another checksum");
          }
          done += rows;
          consumer.accept(block);
        }
      }
    } catch (EOFException e) {
      throw new IOException(
          "keyed state is damaged: it ends before the last of its " + header.rowCount + " rows", e);
    }
  }

  private static int readRowCount(DataInputStream source, long rowsLeft, StateSchema schema)
      throws IOException {
    int rows = source.readInt();
    long most = Math.min(rowsLeft, StateSnapshot.BLOCK_BYTES / schema.rowBytes());
    if (rows < 1 || rows > most) {
      throw new IOException(
          "keyed state is damaged: expected a block of 1 to " + most + " rows, got " + rows);
    }
    return rows;
  }

  private static void read(DataInputStream source, StateBlock block, byte[] buffer)
      throws IOException {
    for (int done = 0; done < block.byteCount(); ) {
      int bytes = Math.min(buffer.length, block.byteCount() - done);
      source.readFully(buffer, 0, bytes);
      HostMemory.copyFromArray(block.address() + done, buffer, 0, bytes);
      done += bytes;
    }
  }
}
