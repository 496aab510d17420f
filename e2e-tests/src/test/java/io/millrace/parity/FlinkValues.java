// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import io.millrace.testing.TableRows;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/** Flink's internal values as the Java values of {@link TableRows}. */
public final class FlinkValues {
  private FlinkValues() {}

  public static List<Object> of(RowData row, List<LogicalType> types) {
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < types.size(); i++) {
      RowData.FieldGetter getter = RowData.createFieldGetter(types.get(i).copy(true), i);
      values.add(value(types.get(i), getter.getFieldOrNull(row)));
    }
    return values;
  }

  private static Object value(LogicalType type, Object value) {
    if (value == null) {
      return null;
    }
    return switch (type.getTypeRoot()) {
      case DECIMAL -> ((DecimalData) value).toBigDecimal();
      case DATE -> LocalDate.ofEpochDay((int) value);
      case TIME_WITHOUT_TIME_ZONE -> TableRows.time((int) value);
      case TIMESTAMP_WITHOUT_TIME_ZONE ->
          LocalDateTime.ofInstant(instant(type, (TimestampData) value), ZoneOffset.UTC);
      case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> instant(type, (TimestampData) value);
      case CHAR, VARCHAR -> new String(((StringData) value).toBytes(), StandardCharsets.UTF_8);
      case BINARY, VARBINARY -> ByteBuffer.wrap((byte[]) value);
      case ROW -> of((RowData) value, type.getChildren());
      case MAP -> of((MapData) value, (MapType) type);
      case ARRAY -> of((ArrayData) value, ((ArrayType) type).getElementType());
      default -> value;
    };
  }

  private static List<Object> of(MapData map, MapType type) {
    List<Object> keys = of(map.keyArray(), type.getKeyType());
    List<Object> values = of(map.valueArray(), type.getValueType());
    List<Object> entries = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      entries.add(Arrays.asList(keys.get(i), values.get(i)));
    }
    return entries;
  }

  private static List<Object> of(ArrayData array, LogicalType type) {
    ArrayData.ElementGetter getter = ArrayData.createElementGetter(type.copy(true));
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < array.size(); i++) {
      values.add(value(type, getter.getElementOrNull(array, i)));
    }
    return values;
  }

  // TimestampData.toLocalDateTime wraps for timestamps far away. Some functions give digits that
  // their types do not have; columns keep milliseconds, microseconds or nanoseconds.
  private static Instant instant(LogicalType type, TimestampData value) {
    int precision = LogicalTypeChecks.getPrecision(type);
    int nanos = value.getNanoOfMillisecond();
    int kept = precision <= 3 ? 0 : precision <= 6 ? nanos - nanos % 1_000 : nanos;
    return Instant.ofEpochMilli(value.getMillisecond()).plusNanos(kept);
  }
}
