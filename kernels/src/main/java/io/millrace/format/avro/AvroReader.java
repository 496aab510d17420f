// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.PerDevice;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RecordKernels;
import io.millrace.format.record.TableReader;
import io.millrace.format.record.UnknownSchemasException;
import io.millrace.memory.MemoryResource;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads records of Avro's binary encoding, a datum each, into columns. The records are of one
 * schema, or each begins with the id of its schema, as in the wire format of Confluent: a zero, and
 * 4 bytes with the highest one first. A field of a schema belongs to the column of its name; one
 * without a column is skipped, and a column without a field is null.
 *
 * <p>Types are converted as Avro resolves schemas: INT and LONG to wider numbers, FLOAT to DOUBLE,
 * STRING and BYTES to each other; of a UNION those branches are read that the column takes. Dates,
 * times, timestamps and decimals are read by their logical types, an ENUM as a STRING, a FIXED as
 * BINARY, a RECORD as a ROW, and a MAP as an ARRAY of ROWs of {@code key} and {@code value}. Digits
 * of a second beyond the precision are dropped.
 *
 * <p>A record is malformed if it ends early or late, if a number is out of the range of its column,
 * a STRING is not UTF-8, or a branch of a UNION is not of the column's type, or null where the
 * column may not be null. A datum that is null as a whole is skipped.
 *
 * <p>On the host and on a GPU the rows are the same bits. Used by one thread.
 */
@PublicEvolving
public final class AvroReader implements RecordReader {
  private static final PerDevice<RecordKernels> KERNELS = RecordKernels.ofModule("avro");
  private static final Set<TypeId> TYPES = EnumSet.complementOf(EnumSet.of(TypeId.DICTIONARY));

  // Schemas that cannot be read are forgotten when there are more, before the next records.
  private static final int MAX_FAULTS = 1 << 16;

  // Characters of a reason, which may have the text of a schema in it: each record repeats it.
  private static final int MAX_REASON = 500;

  private final Schema schema;
  private final RecordFields fields;
  // null if all rows are kept
  private final RecordFilter filter;
  private final DeviceStream stream;
  private final MemoryResource memory;

  // null if the records name no schemas.
  private final AvroSchemas schemas;
  private final Map<Integer, AvroProgram> programs = new LinkedHashMap<>();
  private final Map<Integer, String> faults = new LinkedHashMap<>();
  private TableReader reader;

  /**
   * Reads records of one schema, which they do not name.
   *
   * @param writer the schema that the records were written with
   * @param stream of the records and results; stays open as long as the reader
   * @param memory of results
   * @throws IllegalArgumentException if {@link #unsupported(Schema, AvroType)} says why the columns
   *     cannot be read
   */
  public AvroReader(Schema schema, AvroType writer, DeviceStream stream, MemoryResource memory) {
    this(schema, writer, Optional.empty(), stream, memory);
  }

  /**
   * As the other constructor, for the rows that a filter keeps.
   *
   * @param filter empty to keep all rows
   * @throws IllegalArgumentException also if {@link RecordFilter#unsupported} says why the rows
   *     cannot be filtered
   */
  public AvroReader(
      Schema schema,
      AvroType writer,
      Optional<RecordFilter> filter,
      DeviceStream stream,
      MemoryResource memory) {
    this(schema, null, filter, stream, memory, List.of(program(schema, writer)));
  }

  /**
   * Reads records that begin with the ids of their schemas. A record of a schema that cannot be
   * read, or that is not there, is malformed.
   *
   * @param schemas is asked for each schema once, or more often if there are many ids without one
   * @param stream of the records and results; stays open as long as the reader
   * @param memory of results
   * @throws IllegalArgumentException if {@link #unsupported(Schema)} says why the columns cannot be
   *     read
   */
  public AvroReader(
      Schema schema, AvroSchemas schemas, DeviceStream stream, MemoryResource memory) {
    this(schema, schemas, Optional.empty(), stream, memory);
  }

  /**
   * As the other constructor, for the rows that a filter keeps.
   *
   * @param filter empty to keep all rows
   * @throws IllegalArgumentException also if {@link RecordFilter#unsupported} says why the rows
   *     cannot be filtered
   */
  public AvroReader(
      Schema schema,
      AvroSchemas schemas,
      Optional<RecordFilter> filter,
      DeviceStream stream,
      MemoryResource memory) {
    this(schema, schemas, filter, stream, memory, List.of());
  }

  private AvroReader(
      Schema schema,
      AvroSchemas schemas,
      Optional<RecordFilter> filter,
      DeviceStream stream,
      MemoryResource memory,
      List<AvroProgram> programs) {
    checkSupported(schema);
    this.schema = schema;
    this.filter = filter.orElse(null);
    this.fields = RecordFields.of(schema);
    this.schemas = schemas;
    this.stream = stream;
    this.memory = memory;
    programs.forEach(program -> this.programs.put(program.id(), program));
    this.reader = open();
  }

  private static AvroProgram program(Schema schema, AvroType writer) {
    checkSupported(schema);
    return SchemaResolution.of(RecordFields.of(schema), 0, writer);
  }

  private TableReader open() {
    AvroFormat format =
        new AvroFormat(fields, schemas != null, List.copyOf(programs.values()), faults);
    return new TableReader(
        schema,
        fields,
        Optional.ofNullable(filter),
        format,
        KERNELS.of(stream.device()),
        stream,
        memory);
  }

  /**
   * Why columns cannot be read from records of any schema; empty if they can. Dictionaries cannot,
   * and there are at most 127 columns, with the fields of ROWs, and as many fields in the elements
   * of an ARRAY.
   */
  public static Optional<String> unsupported(Schema schema) {
    return RecordFields.unsupported(schema, TYPES);
  }

  /** Why columns cannot be read from records of a schema; empty if they can. */
  public static Optional<String> unsupported(Schema schema, AvroType writer) {
    Optional<String> unsupported = unsupported(schema);
    if (unsupported.isPresent()) {
      return unsupported;
    }
    try {
      SchemaResolution.of(RecordFields.of(schema), 0, writer);
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.of(e.getMessage());
    }
  }

  /**
   * Checks columns before there is a device to read them on.
   *
   * @throws IllegalArgumentException if {@link #unsupported(Schema)} says why they cannot be read
   */
  public static void checkSupported(Schema schema) {
    unsupported(schema)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException("Avro cannot be read into columns: " + why);
            });
  }

  /**
   * {@inheritDoc}
   *
   * @throws GpuOutOfMemoryException if there is too little memory; the records can be read again
   * @throws RuntimeException if the schema of a record was not found, and {@link AvroSchemas#find}
   *     does not say that there is none
   */
  @Override
  public ParsedRecords read(RecordBytes records) {
    if (faults.size() > MAX_FAULTS) {
      faults.clear();
      reopen();
    }
    for (; ; ) {
      try {
        return reader.read(records);
      } catch (UnknownSchemasException e) {
        e.ids().forEach(this::find);
        reopen();
      }
    }
  }

  private void find(int id) {
    try {
      Optional<AvroType> writer = schemas.find(id);
      if (writer.isPresent()) {
        programs.put(id, SchemaResolution.of(fields, id, writer.get()));
      } else {
        faults.put(id, "there is no schema with this id");
      }
    } catch (IllegalArgumentException e) {
      faults.put(id, shown(e.getMessage()));
    }
  }

  private static String shown(String reason) {
    if (reason == null) {
      return "its records cannot be read";
    }
    return reason.length() <= MAX_REASON ? reason : reason.substring(0, MAX_REASON) + "...";
  }

  private void reopen() {
    // The kernel of a condition stays loaded.
    TableReader before = reader;
    reader = open();
    before.close();
  }

  /** Frees what the reader keeps for further records. */
  @Override
  public void close() {
    reader.close();
  }
}
