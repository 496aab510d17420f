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
import io.millrace.state.StateBlock;
import io.millrace.state.StateSnapshot;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.StateSchema;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/**
 * The rows of a subtask's keyed state in a checkpoint. The same bytes on every device. First the
 * format's number and the version; then a header, with its length before it and its CRC-32C behind
 * it: an identifier, the key columns, the values, the number of tables, and the namespace and the
 * number of rows of each table. Then blocks of rows, table after table, each with its number of
 * rows, the CRC-32C of its bytes, and the rows. If a key column is a STRING or BINARY column, the
 * number of rows is followed by the number of bytes of their long strings, and by the CRC-32C of
 * this number; the rows are followed by the strings, which no other block refers to. Numbers are
 * big-endian; rows have the layout of {@link StateSchema}, in little-endian words. In version 1,
 * the header has the number of rows of the only table instead of the tables.
 *
 * <p>All key groups of a subtask are in one sequence of rows: a reader takes the rows of its own
 * key groups.
 */
final class StateFormat {
  private static final int MAGIC = 0x4d4c5253;
  private static final int VERSION = 2;
  private static final int VERSION_OF_ONE_TABLE = 1;
  private static final HeaderFormat HEADER =
      new HeaderFormat(MAGIC, List.of(VERSION_OF_ONE_TABLE, VERSION), 16 << 20);
  private static final int BUFFER_BYTES = 64 << 10;

  private StateFormat() {}

  /** How many rows the table of a namespace has. */
  record TableRows(long namespace, long rowCount) {}

  /**
   * What a checkpoint says about its rows.
   *
   * @param id of the sequence of rows
   * @param values {@link StateSchema#wordSchema} of the accumulators
   * @param tables in the order of their rows
   */
  record Header(UUID id, Schema keys, Schema values, List<TableRows> tables) {

    /** The header of the rows of {@code snapshot}. */
    static Header of(UUID id, StateTables.Snapshot snapshot) {
      List<TableRows> tables = new ArrayList<>();
      snapshot
          .tables()
          .forEach((namespace, table) -> tables.add(new TableRows(namespace, table.rowCount())));
      return of(id, snapshot.schema(), tables);
    }

    /** The header of the rows of tables of {@code schema}. */
    static Header of(UUID id, StateSchema schema, List<TableRows> tables) {
      return new Header(id, schema.keySchema(), schema.wordSchema(), tables);
    }

    /**
     * The positions of the words that a table of {@code schema} keeps, in the order of its
     * accumulators. The checkpoint may have further words, and it may lack the time of rows: its
     * position is {@link StateBlock#NO_WORD} then.
     *
     * @throws IOException if the keys differ, a value is missing, or a value has another type; an
     *     integer's type may become wider
     */
    int[] positions(StateSchema schema) throws IOException {
      Header job = of(id, schema, tables);
      if (!keys.equals(job.keys)) {
        throw new IOException(
            "the checkpoint has state for the key " + keys + ", and the job has " + job.keys);
      }
      int[] positions = new int[job.values.size()];
      for (int i = 0; i < positions.length; i++) {
        positions[i] = position(job.values.field(i));
        boolean isTime = i == 0 && schema.hasTime();
        if (positions[i] == StateBlock.NO_WORD && !isTime) {
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
      return StateBlock.NO_WORD;
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
      List<Field> input = new ArrayList<>(schema.input().fields());
      List<Accumulator> accumulators = new ArrayList<>();
      for (int word = 0; word < values.size(); ) {
        Field value = values.field(word);
        if (value.type().id().isVariableWidth()) {
          // Any function of strings has their words.
          accumulators.add(new Accumulator(value.name(), Accumulator.Function.MAX, input.size()));
          input.add(value);
        } else {
          accumulators.add(Accumulator.countRows(value.name()));
        }
        Accumulator added = accumulators.get(accumulators.size() - 1);
        word += added.words(new Schema(input));
      }
      return new StateSchema(new Schema(input), schema.keys(), accumulators, StateSchema.NO_KINDS);
    }
  }

  /** Writes all rows of {@code snapshot}. Copies from the device on {@code stream}. */
  static void write(
      StateTables.Snapshot snapshot, DeviceStream stream, GpuRetry retry, OutputStream target)
      throws IOException {
    DataOutputStream output = new DataOutputStream(target);
    DataOutputSerializer header = new DataOutputSerializer(BUFFER_BYTES);
    write(Header.of(UUID.randomUUID(), snapshot), header);
    HEADER.write(header.getCopyOfBuffer(), output);
    for (StateSnapshot table : snapshot.tables().values()) {
      writeBlocks(table, 0, table.rowCount(), stream, retry, output);
    }
    output.flush();
  }

  /** Writes the rows from {@code first} to before {@code end} of a table. */
  static void writeBlocks(
      StateSnapshot table,
      long first,
      long end,
      DeviceStream stream,
      GpuRetry retry,
      DataOutputStream target)
      throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    for (long row = first; row < end; ) {
      long from = row;
      int most = (int) Math.min(end - from, Integer.MAX_VALUE);
      try (StateBlock block = retry.withRetry(() -> table.block(from, most, stream))) {
        write(block, table.schema(), target, buffer);
        row += block.rowCount();
      }
    }
  }

  static void write(Header header, DataOutputView target) throws IOException {
    target.writeLong(header.id.getMostSignificantBits());
    target.writeLong(header.id.getLeastSignificantBits());
    SchemaFormat.write(header.keys, target);
    SchemaFormat.write(header.values, target);
    target.writeInt(header.tables.size());
    for (TableRows table : header.tables) {
      target.writeLong(table.namespace());
      target.writeLong(table.rowCount());
    }
  }

  private static void write(
      StateBlock block, StateSchema schema, DataOutputStream target, byte[] buffer)
      throws IOException {
    target.writeInt(block.rowCount());
    if (schema.hasStrings()) {
      target.writeLong(block.stringBytes());
      target.writeInt(checksum(block.stringBytes()));
    }
    target.writeInt(checksum(block, buffer));
    write(block.address(), block.byteCount(), target, buffer);
    write(block.stringAddress(), block.stringBytes(), target, buffer);
  }

  private static void write(long address, long size, DataOutputStream target, byte[] buffer)
      throws IOException {
    for (long done = 0; done < size; ) {
      int bytes = (int) Math.min(buffer.length, size - done);
      HostMemory.copyToArray(buffer, 0, address + done, bytes);
      target.write(buffer, 0, bytes);
      done += bytes;
    }
  }

  private static int checksum(StateBlock block, byte[] buffer) {
    CRC32C checksum = new CRC32C();
    checksum.update(HostMemory.byteBuffer(block.address(), block.byteCount()));
    for (long done = 0; done < block.stringBytes(); ) {
      int bytes = (int) Math.min(buffer.length, block.stringBytes() - done);
      checksum.update(HostMemory.byteBuffer(block.stringAddress() + done, bytes));
      done += bytes;
    }
    return (int) checksum.getValue();
  }

  private static int checksum(long number) {
    return checksum(ByteBuffer.allocate(Long.BYTES).putLong(0, number));
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
    HeaderFormat.Header header = HEADER.read(source);
    return header(header.content(), header.version());
  }

  /** Reads what {@link #write(Header, DataOutputView)} wrote. */
  static Header header(DataInputView source) throws IOException {
    return header(source, VERSION);
  }

  private static Header header(DataInputView source, int version) throws IOException {
    UUID id = new UUID(source.readLong(), source.readLong());
    Schema keys = SchemaFormat.read(source);
    Schema values = SchemaFormat.read(source);
    int tables = version == VERSION_OF_ONE_TABLE ? 1 : source.readInt();
    List<TableRows> rows = new ArrayList<>();
    for (int i = 0; i < tables; i++) {
      long namespace = version == VERSION_OF_ONE_TABLE ? StateTables.ONLY : source.readLong();
      rows.add(new TableRows(namespace, source.readLong()));
    }
    return new Header(id, keys, values, rows);
  }

  /** Takes a block of rows of a table, which the reader closes. */
  @FunctionalInterface
  interface BlockConsumer {
    void accept(long namespace, StateBlock block) throws IOException;
  }

  /**
   * Reads the blocks behind {@code header}.
   *
   * @param schema with the layout of the rows
   * @param device that the rows go to
   * @throws IOException if the rows end too early or a block has another checksum than it says, or
   *     lacks the long strings of its rows
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
    for (TableRows table : header.tables) {
      try {
        readBlocks(table, schema, device, retry, input, consumer);
      } catch (EOFException e) {
        throw new IOException(
            "keyed state is damaged: it ends before the last of the "
                + table.rowCount()
                + " rows of a table",
            e);
      }
    }
  }

  /**
   * Reads blocks with the rows of a table, or of a part of one.
   *
   * @throws EOFException if the rows end too early
   * @throws IOException as {@link #readBlocks(Header, StateSchema, Device, GpuRetry, InputStream,
   *     BlockConsumer)}
   */
  static void readBlocks(
      TableRows table,
      StateSchema schema,
      Device device,
      GpuRetry retry,
      DataInputStream source,
      BlockConsumer consumer)
      throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    for (long done = 0; done < table.rowCount(); ) {
      int rows = readRowCount(source, table.rowCount() - done, schema);
      long strings = schema.hasStrings() ? readStringBytes(source) : 0;
      int checksum = source.readInt();
      try (StateBlock block =
          retry.withRetry(() -> new StateBlock(schema, rows, strings, device))) {
        read(source, block.address(), block.byteCount(), buffer);
        read(source, block.stringAddress(), block.stringBytes(), buffer);
        if (checksum(block, buffer) != checksum) {
          throw new IOException(
              "keyed state is damaged: rows from row " + done + " on have another checksum");
        }
        if (!block.hasAllStrings()) {
          throw new IOException(
              "keyed state is damaged: rows from row " + done + " on lack the strings of keys");
        }
        done += rows;
        consumer.accept(table.namespace(), block);
      }
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

  private static long readStringBytes(DataInputStream source) throws IOException {
    long bytes = source.readLong();
    if (source.readInt() != checksum(bytes)) {
      throw new IOException("keyed state is damaged: the size of strings has another checksum");
    }
    return bytes;
  }

  private static void read(DataInputStream source, long address, long size, byte[] buffer)
      throws IOException {
    for (long done = 0; done < size; ) {
      int bytes = (int) Math.min(buffer.length, size - done);
      source.readFully(buffer, 0, bytes);
      HostMemory.copyFromArray(address + done, buffer, 0, bytes);
      done += bytes;
    }
  }
}
