package io.millrace.operators.row;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
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
 * Maps Flink's row types to schemas and back. CHAR, VARCHAR, BINARY and VARBINARY lose their length
 * and TIME its precision (Flink keeps milliseconds whatever it is); all else comes back as it was.
 */
public final class SchemaConverter {
  private SchemaConverter() {}

  /**
   * The schema of rows of {@code rowType}.
   *
   * @throws IllegalArgumentException if a column or a nested field has a type that columns do not
   *     have; the message names both
   */
  public static Schema toSchema(RowType rowType) {
    return new Schema(toFields(rowType, ""));
  }

  /**
   * As {@link #toSchema(RowType)}, from a data type whose logical type is a ROW.
   *
   * @throws IllegalArgumentException if it is none, or as above
   */
  public static Schema toSchema(org.apache.flink.table.types.DataType dataType) {
    if (dataType.getLogicalType() instanceof RowType rowType) {
      return toSchema(rowType);
    }
    throw new IllegalArgumentException(dataType + " is not a ROW");
  }

  private static List<Field> toFields(RowType rowType, String path) {
    List<Field> fields = new ArrayList<>();
    for (RowField field : rowType.getFields()) {
      fields.add(toField(field.getName(), path + field.getName(), field.getType()));
    }
    return fields;
  }

  private static Field toField(String name, String path, LogicalType type) {
    return new Field(name, toColumnType(type, path), type.isNullable());
  }

  private static DataType toColumnType(LogicalType type, String path) {
    return switch (type.getTypeRoot()) {
      case BOOLEAN -> DataType.BOOL;
      case TINYINT -> DataType.INT8;
      case SMALLINT -> DataType.INT16;
      case INTEGER -> DataType.INT32;
      case BIGINT -> DataType.INT64;
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
      case ARRAY -> {
        LogicalType element = ((ArrayType) type).getElementType();
        Field field = toField("element", path + ".element", element);
        yield new DataType(TypeId.LIST, 0, 0, false, List.of(field));
      }
      case ROW -> DataType.struct(toFields((RowType) type, path + ".").toArray(Field[]::new));
      default ->
          throw new IllegalArgumentException(
              "column '"
                  + path
                  + "' is "
                  + type.asSummaryString()
                  + "; columns hold numbers, BOOLEAN, DECIMAL, strings, bytes, DATE, TIME,"
                  + " TIMESTAMP, TIMESTAMP_LTZ, and ROW and ARRAY of those");
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
      case BINARY -> new VarBinaryType(nullable, VarBinaryType.MAX_LENGTH);
      case LIST -> new ArrayType(nullable, toLogicalType(type.fields().get(0)));
      case STRUCT -> toRowType(type.fields(), nullable);
      case DICTIONARY -> toLogicalType(type.fields().get(0).type(), nullable);
    };
  }
}
