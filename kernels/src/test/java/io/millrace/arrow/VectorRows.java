// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.TimeMilliVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.dictionary.DictionaryProvider;

/**
 * Arrow vectors, read through Arrow's own accessors, to the Java values that {@link
 * io.millrace.testing.TableRows} gives for a table.
 */
public final class VectorRows {
  private final DictionaryProvider dictionaries;

  private VectorRows(DictionaryProvider dictionaries) {
    this.dictionaries = dictionaries;
  }

  public static List<List<Object>> of(
      VectorSchemaRoot root, Schema schema, DictionaryProvider dictionaries) {
    VectorRows reader = new VectorRows(dictionaries);
    List<List<Object>> rows = new ArrayList<>();
    for (int row = 0; row < root.getRowCount(); row++) {
      List<Object> values = new ArrayList<>();
      for (int i = 0; i < schema.size(); i++) {
        values.add(reader.value(root.getVector(i), schema.type(i), row));
      }
      rows.add(values);
    }
    return rows;
  }

  private Object value(FieldVector vector, DataType type, int row) {
    if (vector.isNull(row)) {
      return null;
    }
    return switch (type.id()) {
      case BOOL, INT8, INT16, INT32, INT64, FLOAT32, FLOAT64 -> vector.getObject(row);
      case DECIMAL32, DECIMAL64, DECIMAL128 -> ((DecimalVector) vector).getObject(row);
      case DATE -> LocalDate.ofEpochDay(((DateDayVector) vector).get(row));
      case TIME -> LocalTime.ofNanoOfDay(((TimeMilliVector) vector).get(row) * 1_000_000L);
      case TIMESTAMP_MILLIS ->
          timestamp(type, Instant.ofEpochMilli(((TimeStampVector) vector).get(row)));
      case TIMESTAMP_MICROS -> timestamp(type, micros(((TimeStampVector) vector).get(row)));
      case TIMESTAMP_NANOS -> timestamp(type, nanos((StructVector) vector, row));
      case STRING -> new String(((VarCharVector) vector).get(row), StandardCharsets.UTF_8);
      case BINARY -> ByteBuffer.wrap(((VarBinaryVector) vector).get(row));
      case LIST -> list((ListVector) vector, type, row);
      case STRUCT -> struct((StructVector) vector, type, row);
      case DICTIONARY -> {
        long id = vector.getField().getDictionary().getId();
        int code = (int) ((BaseIntVector) vector).getValueAsLong(row);
        yield value(dictionaries.lookup(id).getVector(), type.fields().get(0).type(), code);
      }
    };
  }

  private static Instant micros(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, 1_000_000), Math.floorMod(micros, 1_000_000) * 1_000L);
  }

  private static Instant nanos(StructVector struct, int row) {
    return Instant.ofEpochMilli(((TimeStampVector) struct.getChildByOrdinal(0)).get(row))
        .plusNanos(((IntVector) struct.getChildByOrdinal(1)).get(row));
  }

  private static Object timestamp(DataType type, Instant instant) {
    return type.withTimeZone() ? instant : LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
  }

  private List<Object> list(ListVector vector, DataType type, int row) {
    List<Object> values = new ArrayList<>();
    for (int i = vector.getElementStartIndex(row); i < vector.getElementEndIndex(row); i++) {
      values.add(value(vector.getDataVector(), type.fields().get(0).type(), i));
    }
    return values;
  }

  private List<Object> struct(StructVector vector, DataType type, int row) {
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < type.fields().size(); i++) {
      values.add(
          value((FieldVector) vector.getChildByOrdinal(i), type.fields().get(i).type(), row));
    }
    return values;
  }
}
