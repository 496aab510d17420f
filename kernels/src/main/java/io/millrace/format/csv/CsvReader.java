// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RecordKernels;
import io.millrace.format.record.TableReader;
import io.millrace.memory.MemoryResource;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Reads records of CSV into columns. A record ends with a line feed, in front of which there may be
 * a carriage return, or at its last byte; it may have line feeds within quotes. The fields of a
 * record are the columns in order, or have the names of a header. An empty record is skipped,
 * unless records have but one field: then it is that field.
 *
 * <p>Values are text that is read strictly, with or without quotes around it: nothing is trimmed.
 * Integers and decimals are as Java reads them, with ASCII digits; {@code true} and {@code false}
 * in any case; dates, times and timestamps are those of ISO 8601, of the years 0000 to 9999. Digits
 * of a decimal beyond its scale are rounded half up, and digits of a second beyond the precision
 * are dropped; FLOAT and DOUBLE are the nearest to the number, or {@code NaN}, {@code Infinity} or
 * {@code -Infinity}. A record with anything else is malformed, as is one with a number out of
 * range, a quote in the wrong place, too few or too many fields, text that is not UTF-8, or a null
 * where the column may not be null.
 *
 * <p>On the host and on a GPU the rows are the same bits. Used by one thread.
 */
@PublicEvolving
public final class CsvReader implements RecordReader {
  private static final PerDevice<RecordKernels> KERNELS = RecordKernels.ofModule("csv");
  private static final Set<TypeId> TYPES =
      EnumSet.complementOf(
          EnumSet.of(TypeId.BINARY, TypeId.LIST, TypeId.DICTIONARY, TypeId.STRUCT));

  private final TableReader reader;

  /**
   * @param stream of the records and results; stays open as long as the reader
   * @param memory of results
   * @throws IllegalArgumentException if {@link #unsupported} says why the columns cannot be read,
   *     or if the header lacks a column
   */
  public CsvReader(
      Schema schema, CsvReaderOptions options, DeviceStream stream, MemoryResource memory) {
    this(schema, options, Optional.empty(), stream, memory);
  }

  /**
   * As the other constructor, for the rows that a filter keeps.
   *
   * @param filter empty to keep all rows
   * @throws IllegalArgumentException also if {@link RecordFilter#unsupported} says why the rows
   *     cannot be filtered
   */
  public CsvReader(
      Schema schema,
      CsvReaderOptions options,
      Optional<RecordFilter> filter,
      DeviceStream stream,
      MemoryResource memory) {
    checkSupported(schema);
    RecordFields fields = RecordFields.of(schema, options.timePrecisions());
    CsvFormat format = new CsvFormat(schema, fields, options);
    reader =
        new TableReader(
            schema, fields, filter, format, KERNELS.of(stream.device()), stream, memory);
  }

  /**
   * Why columns cannot be read; empty if they can. BINARY, ARRAY, ROW and dictionaries cannot, and
   * there are at most 127 columns.
   */
  public static Optional<String> unsupported(Schema schema) {
    return RecordFields.unsupported(schema, TYPES);
  }

  /**
   * Checks columns before there is a device to read them on.
   *
   * @throws IllegalArgumentException if {@link #unsupported} says why they cannot be read
   */
  public static void checkSupported(Schema schema) {
    unsupported(schema)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException("CSV cannot be read into columns: " + why);
            });
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
