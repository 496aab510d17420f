// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.testing.DeviceExtension;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RowDataLeavesTest {
  private static final RowType INNER =
      RowType.of(new BigIntType(), new VarCharType(VarCharType.MAX_LENGTH));
  private static final RowType ROW =
      RowType.of(new BigIntType(), RowType.of(INNER, new BigIntType()));
  private static final List<List<Integer>> PATHS =
      List.of(List.of(1, 0, 1), List.of(0), List.of(1, 1));
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("text", DataType.STRING),
          Field.of("id", DataType.INT64),
          Field.of("number", DataType.INT64));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static final List<GenericRowData> ROWS =
      List.of(
          row(1L, GenericRowData.of(GenericRowData.of(10L, StringData.fromString("a")), 100L)),
          row(2L, GenericRowData.of(null, 200L)),
          row(3L, null),
          row(null, GenericRowData.of(GenericRowData.of(40L, null), null)));

  private static GenericRowData row(Long id, GenericRowData nested) {
    return GenericRowData.ofKind(RowKind.UPDATE_AFTER, id, nested);
  }

  private static List<Object> expected(Object text, Object id, Object number) {
    return Arrays.asList(text, id, number, RowKind.UPDATE_AFTER.toByteValue());
  }

  private List<List<Object>> append(List<? extends RowData> rows) {
    try (RowTableBuilder builder =
        new RowTableBuilder(
            RowKindColumn.addTo(SCHEMA), device.hostStream(), HostMemoryResource.INSTANCE)) {
      RowAppender<RowData> appender = RowDataAppender.factory(ROW, PATHS).create(builder);
      rows.forEach(appender::append);
      try (Table table = builder.finish(rows.size())) {
        return device.rows(table);
      }
    }
  }

  @Test
  void fieldsOfNullRowsAreNull() {
    List<List<Object>> expected =
        List.of(
            expected("a", 1L, 100L),
            expected(null, 2L, 200L),
            expected(null, 3L, null),
            expected(null, null, null));
    RowDataSerializer serializer = new RowDataSerializer(ROW);
    assertThat(append(ROWS)).isEqualTo(expected);
    assertThat(append(ROWS.stream().map(row -> serializer.toBinaryRow(row).copy()).toList()))
        .isEqualTo(expected);
  }
}
