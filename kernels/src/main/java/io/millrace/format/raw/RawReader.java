// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.raw;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordReader;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RecordKernels;
import io.millrace.format.record.TableReader;
import io.millrace.memory.MemoryResource;
import java.util.Optional;

/**
 * Reads each record as the only value of a row; Flink calls the format {@code raw}. Of a line of
 * text, a line feed at its end and a carriage return that is then at its end are not part of the
 * value. An empty record is an empty value. A STRING that is not UTF-8 makes the record malformed;
 * a BINARY may have any bytes.
 *
 * <p>On the host and on a GPU the rows are the same bits. Used by one thread.
 */
@PublicEvolving
public final class RawReader implements RecordReader {
  private static final PerDevice<RecordKernels> KERNELS = RecordKernels.ofModule("raw");

  private final TableReader reader;

  /**
   * @param schema one column
   * @param areLines whether records are lines, with their line ends; otherwise all bytes are values
   * @param stream of the records and results; stays open as long as the reader
   * @param memory of results
   * @throws IllegalArgumentException if {@link #unsupported} says why the column cannot be read
   */
  public RawReader(Schema schema, boolean areLines, DeviceStream stream, MemoryResource memory) {
    unsupported(schema)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException("records cannot be read as they are: " + why);
            });
    RecordFields fields = RecordFields.of(schema);
    reader =
        new TableReader(
            schema,
            fields,
            Optional.empty(),
            new RawFormat(fields, areLines),
            KERNELS.of(stream.device()),
            stream,
            memory);
  }

  /** Why columns cannot be read; empty if there is one, a STRING or BINARY. */
  public static Optional<String> unsupported(Schema schema) {
    boolean isValue =
        schema.size() == 1
            && (schema.field(0).type().id() == TypeId.STRING
                || schema.field(0).type().id() == TypeId.BINARY);
    return isValue
        ? Optional.empty()
        : Optional.of("expected one column of STRING or BINARY, got " + schema.fields());
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
