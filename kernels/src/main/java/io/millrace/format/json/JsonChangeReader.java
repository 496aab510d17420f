// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Schema;
import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordReader;
import io.millrace.format.record.ChangeEnvelope;
import io.millrace.format.record.ChangeTableReader;
import io.millrace.format.record.RecordKernels;
import io.millrace.memory.MemoryResource;

/**
 * Reads changes in JSON, in Debezium's or Canal's {@link ChangeEnvelope}, into rows with their
 * kinds. A record has no row, one, the two of an update next to each other, or those of each row of
 * Canal's arrays. Rows are read as by {@link JsonReader}, except that booleans and numbers may also
 * be strings, as Canal writes them. A row before an update of Canal has the members of {@code old}
 * and, for those that are missing there, of {@code data}.
 *
 * <p>A record is malformed if one of its rows is, if a row that its operation needs is null or
 * missing, or if the operation is not known; then it has no rows at all. Other members of the
 * envelope are skipped.
 *
 * <p>On the host and on a GPU the rows are the same bits. Used by one thread.
 */
@PublicEvolving
public final class JsonChangeReader implements RecordReader {
  /** The member with the envelope in records of Debezium that also have their schema. */
  public static final String PAYLOAD = "payload";

  private static final PerDevice<RecordKernels> KERNELS = RecordKernels.ofModule("json_change");

  private final ChangeTableReader reader;

  /**
   * @param schema of the rows, with a last column of TINYINT NOT NULL for their kinds, as Flink's
   *     RowKind numbers them
   * @param payload the member of a record that has the envelope; empty if the record is the
   *     envelope
   * @param stream of the records and results; stays open as long as the reader
   * @param memory of results
   * @throws IllegalArgumentException if {@link JsonReader#unsupported} says why the columns cannot
   *     be read
   */
  public JsonChangeReader(
      Schema schema,
      ChangeEnvelope envelope,
      String payload,
      DeviceStream stream,
      MemoryResource memory) {
    // The kind of a change is not a field of records.
    JsonReader.checkSupported(new Schema(schema.fields().subList(0, schema.size() - 1)));
    reader =
        new ChangeTableReader(
            schema,
            envelope,
            payload,
            fields -> new JsonFormat(fields, true),
            KERNELS.of(stream.device()),
            stream,
            memory);
  }

  @Override
  public ParsedRecords read(RecordBytes records) {
    return reader.read(records);
  }

  /** Frees what the reader keeps for further records. */
  @Override
  public void close() {
    reader.close();
  }
}
