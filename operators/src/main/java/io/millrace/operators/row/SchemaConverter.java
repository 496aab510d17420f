// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BitmapType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.RowType.RowField;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TimeType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.TinyIntType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;
import org.apache.flink.table.types.utils.TypeConversions;

/**
 * Maps Flink's row types to schemas and back. CHAR, VARCHAR, BINARY and VARBINARY lose their
 * length, TIME loses its precision (Flink keeps milliseconds for each precision), and intervals
 * become the numbers that Flink's rows hold: an INT of months or a BIGINT of milliseconds. All
 * other types are mapped back to themselves.
 */
@PublicEvolving
public final class SchemaConverter {
  private SchemaConverter() {}

  /**
   * The schema of rows of {@code rowType}.
   *
   * @throws IllegalArgumentException if a column or a nested field has a type that no column can
   *     have; the message names the field and the type
   */
  public static Schema toSchema(RowType rowType) {
    return new Schema(toFields(rowType, ""));
  }

  /**
   * As {@link #toSchema(RowType)}, from a data type whose logical type is a ROW.
   *
   * @throws IllegalArgumentException if {@code dataType} is not a ROW, or as {@link
   *     #toSchema(RowType)}
   */
  public static Schema toSchema(org.apache.flink.table.types.DataType dataType) {
    if (dataType.getLogicalType() instanceof RowType rowType) {
      return toSchema(rowType);
    }
    throw new IllegalArgumentException("expected a ROW, got " + dataType);
  }

  /**
   * Checks that the fields of rows of {@code type} have the types of the columns of {@code schema}.
   * Names and nullability may differ. Rows are read without type checks, so a field of another type
   * would be read as garbage.
   *
   * @param type the type of the stream; not checked if it does not declare the types of its fields
   * @throws IllegalArgumentException if the rows have another number of fields or a field of
   *     another type; the message names the first such column
   */
  public static void checkRows(TypeInformation<?> type, Schema schema) {
    if (!(type instanceof InternalTypeInfo<?> internal)
        || !(internal.toLogicalType() instanceof RowType rowType)) {
      return;
    }
    List<RowField> columns = toRowType(schema).getFields();
    if (rowType.getFieldCount() != columns.size()) {
      throw new IllegalArgumentException(
          "the stream's rows have "
              + rowType.getFieldCount()
              + " fields, but the schema has "
              + columns.size()
              + " columns: "
              + rowType.asSummaryString());
    }
    for (int i = 0; i < columns.size(); i++) {
      RowField field = rowType.getFields().get(i);
      if (!haveOneForm(field.getType(), columns.get(i).getType(), field.getName())) {
        throw new IllegalArgumentException(
            "column '"
                + columns.get(i).getName()
                + "' is "
                + columns.get(i).getType().asSummaryString()
                + ", but the stream's rows have "
                + field.getType().asSummaryString()
                + " there, in field '"
                + field.getName()
                + "'");
      }
    }
  }

  private static boolean haveOneForm(LogicalType rows, LogicalType column, String path) {
    if (column.getChildren().isEmpty()) {
      return toColumnType(rows, path).equals(toColumnType(column, path));
    }
    List<LogicalType> ofRows = rows.getChildren();
    List<LogicalType> ofColumn = column.getChildren();
    return rows.is(column.getTypeRoot())
        && ofRows.size() == ofColumn.size()
        && IntStream.range(0, ofRows.size())
            .allMatch(i -> haveOneForm(ofRows.get(i), ofColumn.get(i), path));
  }

  private static List<Field> toFields(RowType rowType, String path) {
    List<Field> fields = new ArrayList<>();
    for (RowField field : rowType.getFields()) {
      fields.add(toField(field.getName(), path + field.getName(), field.getType()));
    }
    return fields;
  }

  private static Field toField(String name, String path, LogicalType type) {
    // A processing-time attribute is NOT NULL by its type, but null in rows.
    boolean nullable = type.isNullable() || LogicalTypeChecks.isProctimeAttribute(type);
    return new Field(name, toColumnType(type, path), nullable);
  }

  private static DataType toColumnType(LogicalType type, String path) {
    return switch (type.getTypeRoot()) {
      case BOOLEAN -> DataType.BOOL;
      case TINYINT -> DataType.INT8;
      case SMALLINT -> DataType.INT16;
      case INTEGER, INTERVAL_YEAR_MONTH -> DataType.INT32;
      case BIGINT, INTERVAL_DAY_TIME -> DataType.INT64;
      case FLOAT -> DataType.FLOAT32;
      case DOUBLE -> DataType.FLOAT64;
      case DECIMAL ->
          DataType.decimal(LogicalTypeChecks.getPrecision(type), LogicalTypeChecks.getScale(type));
      case DATE -> DataType.DATE;
      case TIME_WITHOUT_TIME_ZONE -> DataType.TIME;
      case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
          DataType.timestamp(
              LogicalTypeChecks.getPrecision(type),
              type.is(LogicalTypeRoot.TIMESTAMP_WITH_LOCAL_TIME_ZONE));
      case CHAR, VARCHAR -> DataType.STRING;
      case BINARY, VARBINARY -> DataType.BINARY;
      case BITMAP -> DataType.BITMAP;
      case ARRAY -> {
        LogicalType element = ((ArrayType) type).getElementType();
        Field field = toField("element", path + ".element", element);
        yield new DataType(TypeId.LIST, 0, 0, false, List.of(field));
      }
      case MAP -> {
        MapType map = (MapType) type;
        yield DataType.map(
            toField("key", path + ".key", map.getKeyType()),
            toField("value", path + ".value", map.getValueType()));
      }
      case ROW -> DataType.struct(toFields((RowType) type, path + ".").toArray(Field[]::new));
      default ->
          throw new IllegalArgumentException(
              "column '"
                  + path
                  + "' is "
                  + type.asSummaryString()
                  + "; columns hold numbers, BOOLEAN, DECIMAL, strings, bytes, BITMAP, DATE, TIME,"
                  + " TIMESTAMP, TIMESTAMP_LTZ, and ROW, ARRAY and MAP of those");
    };
  }

  /**
   * The type of the rows of {@code schema}, without its row-kind column if it has one. A dictionary
   * becomes the type of its values.
   */
  public static RowType toRowType(Schema schema) {
    return toRowType(RowKindColumn.rowFields(schema), false);
  }

  /** As {@link #toRowType}, as a data type with Flink's default conversion classes. */
  public static org.apache.flink.table.types.DataType toDataType(Schema schema) {
    return TypeConversions.fromLogicalToDataType(toRowType(schema));
  }

  private static RowType toRowType(List<Field> fields, boolean nullable) {
    return new RowType(
        nullable,
        fields.stream().map(field -> new RowField(field.name(), toLogicalType(field))).toList());
  }

  private static LogicalType toListType(Field element, boolean isMap, boolean nullable) {
    if (!isMap) {
      return new ArrayType(nullable, toLogicalType(element));
    }
    List<Field> entry = element.type().fields();
    return new MapType(nullable, toLogicalType(entry.get(0)), toLogicalType(entry.get(1)));
  }

  private static LogicalType toLogicalType(Field field) {
    return toLogicalType(field.type(), field.nullable());
  }

  private static LogicalType toLogicalType(DataType type, boolean nullable) {
    return switch (type.id()) {
      case BOOL -> new BooleanType(nullable);
      case INT8 -> new TinyIntType(nullable);
      case INT16 -> new SmallIntType(nullable);
      case INT32 -> new IntType(nullable);
      case INT64 -> new BigIntType(nullable);
      case FLOAT32 -> new FloatType(nullable);
      case FLOAT64 -> new DoubleType(nullable);
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          new DecimalType(nullable, type.precision(), type.scale());
      case DATE -> new DateType(nullable);
      case TIME -> new TimeType(nullable, 3);
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS ->
          type.withTimeZone()
              ? new LocalZonedTimestampType(nullable, type.precision())
              : new TimestampType(nullable, type.precision());
      case STRING -> new VarCharType(nullable, VarCharType.MAX_LENGTH);
      case BINARY ->
          type.isBitmap()
              ? new BitmapType(nullable)
              : new VarBinaryType(nullable, VarBinaryType.MAX_LENGTH);
      case LIST -> toListType(type.fields().get(0), type.isMap(), nullable);
      case STRUCT -> toRowType(type.fields(), nullable);
      case DICTIONARY -> toLogicalType(type.fields().get(0).type(), nullable);
    };
  }
}
