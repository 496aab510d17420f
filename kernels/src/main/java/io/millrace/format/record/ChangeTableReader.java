// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Reads changes in envelopes into tables of rows with their kinds. A first pass finds the texts of
 * rows in the envelopes; the rows are then read as records, each in its place. Used by one thread;
 * closed once.
 */
@Internal
public final class ChangeTableReader implements AutoCloseable {
  private final ChangeEnvelope envelope;
  private final Schema columns;
  private final Schema schema;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final RecordLevel envelopes;
  private final RecordLevel rows;

  /**
   * @param schema of the rows, with a last column of TINYINT NOT NULL for their kinds, as Flink's
   *     RowKind numbers them
   * @param payload the member of a record that has the envelope; empty if the record is the
   *     envelope
   * @param formats of records with fields
   * @param kernels of the formats on the device of the stream
   * @param stream of the records and results; stays open as long as the reader
   * @param memory of results
   */
  public ChangeTableReader(
      Schema schema,
      ChangeEnvelope envelope,
      String payload,
      Function<RecordFields, RecordFormat> formats,
      RecordKernels kernels,
      DeviceStream stream,
      MemoryResource memory) {
    this.envelope = envelope;
    this.schema = schema;
    this.columns = new Schema(schema.fields().subList(0, schema.size() - 1));
    this.stream = stream;
    this.memory = memory;
    RecordFields outer = envelopeFields(columns, envelope, payload);
    RecordFields inner = RecordFields.of(columns);
    this.envelopes = new RecordLevel(outer, formats.apply(outer), kernels, stream, memory);
    this.rows = new RecordLevel(inner, formats.apply(inner), kernels, stream, memory);
  }

  private static RecordFields envelopeFields(
      Schema columns, ChangeEnvelope envelope, String payload) {
    DataType row = DataType.struct(columns.fields().toArray(Field[]::new));
    DataType texts = envelope == ChangeEnvelope.CANAL ? DataType.list(row) : row;
    Field[] members = {
      Field.of(envelope.before(), texts),
      Field.of(envelope.after(), texts),
      new Field(envelope.operation(), DataType.STRING, false)
    };
    Schema fields =
        payload.isEmpty()
            ? Schema.of(members)
            : Schema.of(new Field(payload, DataType.struct(members), false));
    return RecordFields.ofEnvelope(fields, Set.of(envelope.before(), envelope.after()));
  }

  /** As {@link io.millrace.format.RecordReader#read}. */
  public ParsedRecords read(RecordBytes records) {
    try (AccessScope scope = AccessScope.on(stream);
        RecordPass pass = new RecordPass(envelopes, TableReader.texts(records, scope), scope)) {
      if (records.count() == 0) {
        return read(pass, new ChangeTexts(), List.of(), scope);
      }
      RecordFaults faults = pass.isComplete() ? null : new RecordFaults(pass);
      BitSet valid = new BitSet(records.count());
      if (faults == null) {
        valid.set(0, records.count());
      } else {
        IntStream.of(faults.valid()).forEach(valid::set);
      }
      ChangeTexts texts = new ChangeTexts(envelope, pass, valid::get);
      return read(pass, texts, faults == null ? List.of() : faults.malformed(), scope);
    }
  }

  private ParsedRecords read(
      RecordPass pass, ChangeTexts texts, List<MalformedRecord> faults, AccessScope scope) {
    try (Buffer positions = texts.copyPositions(stream, memory);
        Buffer kinds = texts.copyKinds(stream, memory)) {
      RecordTexts found =
          texts.rows() == 0
              ? RecordTexts.NONE
              : texts.texts(pass.records().bytes(), positions.access(AccessMode.READ, scope));
      try (RecordPass inner = new RecordPass(rows, found, scope)) {
        boolean isComplete = inner.isComplete() && texts.faults().isEmpty();
        if (isComplete) {
          return new ParsedRecords(table(inner, kinds), faults, texts.records());
        }
        return readSome(pass, inner, texts, faults, kinds);
      }
    }
  }

  // Rows of a record with a fault are dropped, all of them.
  private ParsedRecords readSome(
      RecordPass pass,
      RecordPass inner,
      ChangeTexts texts,
      List<MalformedRecord> faults,
      Buffer kinds) {
    RecordFaults places = new RecordFaults(pass);
    Map<Integer, MalformedRecord> malformed = new TreeMap<>();
    faults.forEach(fault -> malformed.put(fault.record(), fault));
    texts
        .faults()
        .forEach((record, why) -> malformed.put(record, places.malformed(record, 0, why)));
    int[] recordOf = texts.records();
    if (!inner.isComplete()) {
      RecordFaults ofRows = new RecordFaults(inner);
      for (int row = 0; row < recordOf.length; row++) {
        int record = recordOf[row];
        if (!malformed.containsKey(record) && ofRows.isMalformed(row)) {
          malformed.put(record, places.within(record, ofRows.malformed(row)));
        }
      }
    }
    int[] kept =
        IntStream.range(0, recordOf.length)
            .filter(row -> !malformed.containsKey(recordOf[row]))
            .toArray();
    int[] keptRecords = IntStream.of(kept).map(row -> recordOf[row]).toArray();
    try (Table all = table(inner, kinds)) {
      Table table =
          kept.length == recordOf.length
              ? all.share()
              : TableReader.select(all, kept, stream, memory);
      return new ParsedRecords(table, List.copyOf(malformed.values()), keptRecords);
    }
  }

  private Table table(RecordPass pass, Buffer kinds) {
    try (Table read = pass.take(columns)) {
      List<Column> all = new ArrayList<>();
      try {
        read.columns().forEach(column -> all.add(column.share()));
        all.add(new Column(DataType.INT8, read.rowCount(), 0, kinds.share(), null, List.of()));
        return new Table(schema, all, read.rowCount());
      } catch (RuntimeException | Error e) {
        FirstFailure failure = new FirstFailure();
        failure.add(e);
        all.forEach(column -> failure.run(column::close));
        throw e;
      }
    }
  }

  /** Frees what the reader keeps for further records. */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(envelopes::close);
    failure.run(rows::close);
    failure.rethrow();
  }
}
