// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.state.BlockReader.Encoding;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.streaming.api.TimeDomain;

/**
 * The rows of a subtask's keyed state in a checkpoint. The same bytes on every device. First the
 * format's number and the version; then a header, with its length before it and its CRC-32C behind
 * it: an identifier and the number of states, and for each state its name, the key columns, the
 * values, the number of tables, and the namespace and the number of rows of each table. Then blocks
 * of rows, table after table, as {@link BlockWriter} writes them. Numbers are big-endian. In
 * versions up to 3, there is one state, without its number and its name. In versions 1 and 2, the
 * rows and the strings of a block are written as they are. In version 1, the header has the number
 * of rows of the only table instead of the tables.
 *
 * <p>All key groups of a subtask are in one sequence of rows: a reader takes the rows of its own
 * key groups.
 */
final class StateFormat {
  private static final int MAGIC = 0x4d4c5253;
  private static final int VERSION = 4;
  private static final int VERSION_OF_ONE_STATE = 3;
  private static final int VERSION_OF_PLAIN_BLOCKS = 2;
  private static final int VERSION_OF_ONE_TABLE = 1;
  private static final HeaderFormat HEADER =
      new HeaderFormat(
          MAGIC,
          List.of(VERSION_OF_ONE_TABLE, VERSION_OF_PLAIN_BLOCKS, VERSION_OF_ONE_STATE, VERSION),
          16 << 20);
  private static final int HEADER_BYTES = 4 << 10;

  private StateFormat() {}

  /** How many rows the table of a namespace has. */
  record TableRows(long namespace, long rowCount) {}

  /**
   * What a checkpoint says about its rows.
   *
   * @param id of the sequence of rows
   * @param states in the order of their rows
   */
  record Header(UUID id, List<State> states) {

    /** The header of the rows of {@code snapshot}. */
    static Header of(UUID id, KeyedStates.Snapshot snapshot) {
      List<State> states = new ArrayList<>();
      snapshot
          .states()
          .forEach(
              (name, state) -> {
                List<TableRows> tables = new ArrayList<>();
                state
                    .tables()
                    .forEach(
                        (namespace, table) ->
                            tables.add(new TableRows(namespace, table.rowCount())));
                states.add(State.of(name, state.schema(), tables));
              });
      return new Header(id, states);
    }
  }

  /** The arguments of {@link StateBlock#widen}. */
  record Widening(int word, int bytes, int widerBytes) {}

  /**
   * What a checkpoint says about the rows of a state.
   *
   * @param values {@link StateSchema#wordSchema} of the accumulators
   * @param tables in the order of their rows
   */
  record State(String name, Schema keys, Schema values, List<TableRows> tables) {

    static State of(String name, StateSchema schema, List<TableRows> tables) {
      return new State(name, schema.keySchema(), schema.wordSchema(), tables);
    }

    /**
     * The positions of the words that a table of {@code schema} keeps, in the order of its
     * accumulators. The checkpoint may have further words, and it may lack the time of rows: its
     * position is {@link StateBlock#NO_WORD} then.
     *
     * @throws IOException if the keys differ, a value is missing, or a value has another type,
     *     where an integer's type may become wider; if both have a time of rows, by other clocks;
     *     or if a value is of an argument whose values the checkpoint counts, and the job does not
     */
    int[] positions(StateSchema schema) throws IOException {
      State job = of(name, schema, tables);
      if (!keys.equals(job.keys)) {
        throw new IOException(
            "the checkpoint has "
                + title()
                + " for the key "
                + keys
                + ", and the job has "
                + job.keys);
      }
      if (schema.hasTime()) {
        checkDomain(job);
      }
      int[] positions = new int[job.values.size()];
      for (int i = 0; i < positions.length; i++) {
        positions[i] = position(job.values.field(i));
        boolean isTime = i == 0 && schema.hasTime();
        if (positions[i] == StateBlock.NO_WORD && !isTime) {
          throw new IOException(
              "the checkpoint has "
                  + title()
                  + " with "
                  + values
                  + ", and the job has "
                  + job.values);
        }
      }
      for (Field value : job.values.fields()) {
        checkNullability(value, job);
      }
      return positions;
    }

    // Without nulls an argument's values are as many as the rows, which the checkpoint has counted
    // with its nulls.
    private void checkNullability(Field value, State job) throws IOException {
      int argument = value.name().indexOf('(');
      String count = argument < 0 ? "" : "$COUNT" + value.name().substring(argument);
      if (values.names().contains(count) && !job.values.names().contains(count)) {
        throw new IOException(
            "the checkpoint has "
                + title()
                + " with "
                + value.name()
                + " of an argument that may be null, and the job has it NOT NULL");
      }
    }

    /**
     * The values that are wider in a table of {@code schema}, of those whose words depend on the
     * width: first and last values, the bits of which are zero-extended.
     *
     * @param positions as {@link #positions} gives them
     */
    List<Widening> widenings(StateSchema schema, int[] positions) {
      List<Widening> widenings = new ArrayList<>();
      int word = 0;
      for (Accumulator accumulator : schema.accumulators()) {
        DataType type = accumulator.type(schema.input());
        if (isBits(accumulator.function()) && type.isInteger()) {
          int bytes = values.type(positions[word]).id().byteWidth();
          int widerBytes = type.id().byteWidth();
          if (bytes < widerBytes) {
            widenings.add(new Widening(word, bytes, widerBytes));
          }
        }
        word += accumulator.words(schema.input());
      }
      return widenings;
    }

    private static boolean isBits(Accumulator.Function function) {
      return function == Accumulator.Function.FIRST || function == Accumulator.Function.LAST;
    }

    private String title() {
      return name.isEmpty() ? "state" : "state '" + name + "'";
    }

    private void checkDomain(State job) throws IOException {
      Optional<TimeDomain> domain = domain();
      Optional<TimeDomain> ofJob = job.domain();
      if (domain.isPresent() && !domain.equals(ofJob)) {
        throw new IOException(
            "the checkpoint has state with a stateTtl of "
                + domain.get()
                + ", and the job has a stateTtl of "
                + ofJob.orElseThrow());
      }
    }

    // Of the time of rows, which is the first value.
    private Optional<TimeDomain> domain() {
      return values.size() == 0 ? Optional.empty() : StateTtl.domainOf(values.field(0).name());
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

    private static boolean canBecome(DataType type, DataType wider) {
      return type.equals(wider)
          || (type.isInteger()
              && wider.isInteger()
              && type.id().byteWidth() < wider.id().byteWidth());
    }

    /** A schema with the layout of the rows. */
    StateSchema layout() {
      List<Field> input = new ArrayList<>(keys.fields());
      List<Integer> keyPositions = IntStream.range(0, keys.size()).boxed().toList();
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
      return new StateSchema(new Schema(input), keyPositions, accumulators, StateSchema.NO_KINDS);
    }
  }

  /** Writes all rows of {@code snapshot}. */
  static void write(KeyedStates.Snapshot snapshot, BlockWriter blocks, OutputStream target)
      throws IOException {
    DataOutputStream output = new DataOutputStream(target);
    DataOutputSerializer header = new DataOutputSerializer(HEADER_BYTES);
    write(Header.of(UUID.randomUUID(), snapshot), header);
    HEADER.write(header.getCopyOfBuffer(), output);
    for (StateSnapshot table : snapshot.tables()) {
      blocks.write(table, 0, table.rowCount(), output);
    }
    output.flush();
  }

  static void write(Header header, DataOutputView target) throws IOException {
    target.writeLong(header.id.getMostSignificantBits());
    target.writeLong(header.id.getLeastSignificantBits());
    target.writeInt(header.states.size());
    for (State state : header.states) {
      target.writeUTF(state.name);
      SchemaFormat.write(state.keys, target);
      SchemaFormat.write(state.values, target);
      target.writeInt(state.tables.size());
      for (TableRows table : state.tables) {
        target.writeLong(table.namespace());
        target.writeLong(table.rowCount());
      }
    }
  }

  /**
   * Reads the header; the blocks follow.
   *
   * @throws IOException if these are not rows of keyed state, or of a later version, or the header
   *     is damaged
   */
  static VersionedHeader readHeader(InputStream source) throws IOException {
    HeaderFormat.Header header = HEADER.read(source);
    return new VersionedHeader(header(header.content(), header.version()), header.version());
  }

  /** A header, and the version of the blocks behind it. */
  record VersionedHeader(Header header, int version) {}

  /** Reads what {@link #write(Header, DataOutputView)} wrote. */
  static Header header(DataInputView source) throws IOException {
    return header(source, VERSION);
  }

  /** As {@link #header(DataInputView)}, of version 3. */
  static Header headerOfOneState(DataInputView source) throws IOException {
    return header(source, VERSION_OF_ONE_STATE);
  }

  private static Header header(DataInputView source, int version) throws IOException {
    UUID id = new UUID(source.readLong(), source.readLong());
    if (version <= VERSION_OF_ONE_STATE) {
      return new Header(id, List.of(state(KeyedStates.UNNAMED, source, version)));
    }
    List<State> states = new ArrayList<>();
    for (int i = source.readInt(); i > 0; i--) {
      states.add(state(source.readUTF(), source, version));
    }
    return new Header(id, states);
  }

  private static State state(String name, DataInputView source, int version) throws IOException {
    Schema keys = SchemaFormat.read(source);
    Schema values = SchemaFormat.read(source);
    int tables = version == VERSION_OF_ONE_TABLE ? 1 : source.readInt();
    List<TableRows> rows = new ArrayList<>();
    for (int i = 0; i < tables; i++) {
      long namespace = version == VERSION_OF_ONE_TABLE ? StateTables.ONLY : source.readLong();
      rows.add(new TableRows(namespace, source.readLong()));
    }
    return new State(name, keys, values, rows);
  }

  /** How the blocks behind a header of a version are written. */
  static Encoding encoding(int version) {
    return version <= VERSION_OF_PLAIN_BLOCKS ? Encoding.PLAIN : Encoding.PIECES;
  }

  /**
   * Reads the blocks of a state.
   *
   * @param source behind the blocks of the states before
   * @throws IOException if the rows end too early, or as {@link BlockReader#read}
   */
  static void readBlocks(
      State state,
      Encoding encoding,
      BlockReader blocks,
      InputStream source,
      BlockReader.Consumer consumer)
      throws IOException {
    DataInputStream input = new DataInputStream(source);
    for (TableRows table : state.tables) {
      try {
        blocks.read(table, encoding, input, consumer);
      } catch (EOFException e) {
        throw new IOException(
            "keyed state is damaged: it ends before the last of the "
                + table.rowCount()
                + " rows of a table",
            e);
      }
    }
  }
}
