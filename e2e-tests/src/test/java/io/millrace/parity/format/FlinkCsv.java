// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import io.millrace.column.Schema;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.parity.FlinkValues;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.formats.csv.CsvRowDataDeserializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;

/** Reads records with Flink's format {@code csv}. */
final class FlinkCsv {
  private final RowType type;
  private final DeserializationSchema<RowData> format;

  FlinkCsv(Schema schema, CsvSettings settings) throws Exception {
    type = SchemaConverter.toRowType(schema);
    CsvRowDataDeserializationSchema.Builder builder =
        new CsvRowDataDeserializationSchema.Builder(type, InternalTypeInfo.of(type));
    settings.applyTo(builder);
    format = builder.build();
    // The format does not use the context.
    format.open(null);
  }

  RecordResult read(byte[] record) {
    List<RowData> rows = new ArrayList<>();
    try {
      format.deserialize(record, new ListCollector<>(rows));
    } catch (IOException | RuntimeException e) {
      return RecordResult.malformed(e.toString());
    }
    return RecordResult.of(
        rows.stream().map(row -> FlinkValues.of(row, type.getChildren())).toList());
  }
}
