// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.format.avro.AvroType.Kind;
import io.millrace.testing.DeviceExtension;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Types of Avro, and records of them that are read on a test's device. */
final class AvroRecords {
  static final AvroType NULL = AvroType.of(Kind.NULL);
  static final AvroType INT = AvroType.of(Kind.INT);
  static final AvroType LONG = AvroType.of(Kind.LONG);
  static final AvroType FLOAT = AvroType.of(Kind.FLOAT);
  static final AvroType DOUBLE = AvroType.of(Kind.DOUBLE);
  static final AvroType BYTES = AvroType.of(Kind.BYTES);
  static final AvroType STRING = AvroType.of(Kind.STRING);

  private final DeviceExtension device;

  AvroRecords(DeviceExtension device) {
    this.device = device;
  }

  static AvroType record(AvroType... types) {
    return AvroType.record(
        IntStream.range(0, types.length)
            .mapToObj(i -> new AvroType.Field("f" + i, types[i]))
            .toList());
  }

  static AvroType union(AvroType... branches) {
    return AvroType.union(List.of(branches));
  }

  static Schema column(DataType type) {
    return Schema.of(Field.of("f0", type));
  }

  static Schema required(DataType type) {
    return Schema.of(new Field("f0", type, false));
  }

  static AvroDatum datum() {
    return new AvroDatum();
  }

  ParsedRecords read(Schema schema, AvroType writer, List<byte[]> records) {
    try (RecordBytes bytes = RecordLines.records(records, device);
        AvroReader reader = new AvroReader(schema, writer, device.stream(), device.memory())) {
      return reader.read(bytes);
    }
  }

  List<List<Object>> rows(Schema schema, AvroType writer, AvroDatum... datums) {
    List<byte[]> records = Arrays.stream(datums).map(AvroDatum::bytes).toList();
    try (ParsedRecords parsed = read(schema, writer, records)) {
      assertThat(parsed.malformed()).isEmpty();
      return device.rows(parsed.table());
    }
  }

  /** The only values of each record, which has one field. */
  List<Object> values(DataType type, AvroType writer, AvroDatum... datums) {
    return rows(column(type), record(writer), datums).stream().map(row -> row.get(0)).toList();
  }

  List<String> faults(Schema schema, AvroType writer, AvroDatum... datums) {
    List<byte[]> records = Arrays.stream(datums).map(AvroDatum::bytes).toList();
    try (ParsedRecords parsed = read(schema, writer, records)) {
      assertThat(parsed.table().rowCount() + parsed.malformed().size()).isEqualTo(records.size());
      return parsed.malformed().stream()
          .map(fault -> fault.record() + "@" + fault.position() + " " + fault.reason())
          .toList();
    }
  }

  void assertMismatch(Schema schema, AvroType writer, String message) {
    assertThat(AvroReader.unsupported(schema, writer)).contains(message);
    assertThatThrownBy(() -> new AvroReader(schema, writer, device.stream(), device.memory()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }
}
