// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import io.millrace.column.Schema;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.parity.FlinkValues;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.canal.CanalJsonDeserializationSchema;
import org.apache.flink.formats.json.debezium.DebeziumJsonDeserializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.utils.TypeConversions;

/** Reads records with Flink's formats of changes; each row has its kind as its last value. */
final class FlinkChanges {
  private final RowType type;
  private final DeserializationSchema<RowData> format;

  private FlinkChanges(RowType type, DeserializationSchema<RowData> format) throws Exception {
    this.type = type;
    this.format = format;
    // The formats do not use the context.
    format.open(null);
  }

  /**
   * Flink's {@code debezium-json}.
   *
   * @param schema with a row-kind column
   */
  static FlinkChanges debezium(Schema schema, boolean hasSchema) throws Exception {
    RowType type = type(schema);
    return new FlinkChanges(
        type,
        new DebeziumJsonDeserializationSchema(
            physical(type),
            List.of(),
            InternalTypeInfo.of(type),
            hasSchema,
            false,
            TimestampFormat.SQL));
  }

  /**
   * Flink's {@code canal-json}.
   *
   * @param schema with a row-kind column
   */
  static FlinkChanges canal(Schema schema) throws Exception {
    RowType type = type(schema);
    return new FlinkChanges(
        type,
        CanalJsonDeserializationSchema.builder(physical(type), List.of(), InternalTypeInfo.of(type))
            .build());
  }

  private static RowType type(Schema schema) {
    return SchemaConverter.toRowType(new Schema(RowKindColumn.rowFields(schema)));
  }

  private static DataType physical(RowType type) {
    return TypeConversions.fromLogicalToDataType(type);
  }

  RecordResult read(byte[] record) {
    List<RowData> rows = new ArrayList<>();
    try {
      format.deserialize(record, new ListCollector<>(rows));
    } catch (IOException | RuntimeException e) {
      return RecordResult.malformed(e.toString());
    }
    return RecordResult.of(rows.stream().map(this::values).toList());
  }

  private List<Object> values(RowData row) {
    List<Object> values = new ArrayList<>(FlinkValues.of(row, type.getChildren()));
    values.add(row.getRowKind().toByteValue());
    return values;
  }
}
