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
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonParserRowDataDeserializationSchema;
import org.apache.flink.formats.json.JsonRowDataDeserializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;

/** Reads records with Flink's format {@code json}, in which missing members are null. */
final class FlinkJson {
  /** The option {@code decode.json-parser.enabled} of the format. */
  enum Decoder {
    /** Reads the tokens of a record one by one: the default. */
    PARSER,
    /** Makes a tree of each record first. */
    TREE
  }

  private final RowType type;
  private final DeserializationSchema<RowData> format;

  FlinkJson(Schema schema, Decoder decoder, TimestampFormat timestamps) throws Exception {
    type = SchemaConverter.toRowType(schema);
    InternalTypeInfo<RowData> rows = InternalTypeInfo.of(type);
    format =
        switch (decoder) {
          case PARSER ->
              new JsonParserRowDataDeserializationSchema(type, rows, false, false, timestamps);
          case TREE -> new JsonRowDataDeserializationSchema(type, rows, false, false, timestamps);
        };
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
