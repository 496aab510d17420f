// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.DataType;
import java.util.Optional;
import org.apache.parquet.format.ConvertedType;
import org.apache.parquet.format.DateType;
import org.apache.parquet.format.DecimalType;
import org.apache.parquet.format.IntType;
import org.apache.parquet.format.LogicalType;
import org.apache.parquet.format.MicroSeconds;
import org.apache.parquet.format.MilliSeconds;
import org.apache.parquet.format.NanoSeconds;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.StringType;
import org.apache.parquet.format.TimeType;
import org.apache.parquet.format.TimeUnit;
import org.apache.parquet.format.TimestampType;
import org.apache.parquet.format.Type;

/** The types of values in Parquet files, and the data types that they are in tables. */
final class ParquetType {
  private static final int MAX_PRECISION = 38;

  private ParquetType() {}

  /** Declares {@code element} as a value of {@code type}, which has no parts. */
  static void declare(SchemaElement element, DataType type) {
    switch (type.id()) {
      case BOOL -> element.setType(Type.BOOLEAN);
      case INT8 -> integer(element, 8, ConvertedType.INT_8);
      case INT16 -> integer(element, 16, ConvertedType.INT_16);
      case INT32 -> element.setType(Type.INT32);
      case INT64 -> element.setType(Type.INT64);
      case FLOAT32 -> element.setType(Type.FLOAT);
      case FLOAT64 -> element.setType(Type.DOUBLE);
      case DECIMAL32 -> decimal(element.setType(Type.INT32), type);
      case DECIMAL64 -> decimal(element.setType(Type.INT64), type);
      case DECIMAL128 ->
          decimal(element.setType(Type.FIXED_LEN_BYTE_ARRAY).setType_length(2 * Long.BYTES), type);
      case DATE ->
          element
              .setType(Type.INT32)
              .setLogicalType(LogicalType.DATE(new DateType()))
              .setConverted_type(ConvertedType.DATE);
      case TIME ->
          element
              .setType(Type.INT32)
              .setLogicalType(
                  LogicalType.TIME(new TimeType(false, TimeUnit.MILLIS(new MilliSeconds()))));
      case TIMESTAMP_MILLIS -> timestamp(element, type, TimeUnit.MILLIS(new MilliSeconds()));
      case TIMESTAMP_MICROS -> timestamp(element, type, TimeUnit.MICROS(new MicroSeconds()));
      case TIMESTAMP_NANOS -> timestamp(element, type, TimeUnit.NANOS(new NanoSeconds()));
      case STRING ->
          element
              .setType(Type.BYTE_ARRAY)
              .setLogicalType(LogicalType.STRING(new StringType()))
              .setConverted_type(ConvertedType.UTF8);
      case BINARY -> element.setType(Type.BYTE_ARRAY);
      case LIST, STRUCT, DICTIONARY ->
          throw new IllegalArgumentException(type + " is not a value by itself");
    }
  }

  private static void integer(SchemaElement element, int bits, ConvertedType converted) {
    element
        .setType(Type.INT32)
        .setLogicalType(LogicalType.INTEGER(new IntType((byte) bits, true)))
        .setConverted_type(converted);
  }

  private static void decimal(SchemaElement element, DataType type) {
    element
        .setLogicalType(LogicalType.DECIMAL(new DecimalType(type.scale(), type.precision())))
        .setConverted_type(ConvertedType.DECIMAL)
        .setPrecision(type.precision())
        .setScale(type.scale());
  }

  // A converted type means an instant to readers that know no logical types.
  private static void timestamp(SchemaElement element, DataType type, TimeUnit unit) {
    element
        .setType(Type.INT64)
        .setLogicalType(LogicalType.TIMESTAMP(new TimestampType(type.withTimeZone(), unit)));
    if (type.withTimeZone() && !unit.isSetNANOS()) {
      element.setConverted_type(
          unit.isSetMILLIS() ? ConvertedType.TIMESTAMP_MILLIS : ConvertedType.TIMESTAMP_MICROS);
    }
  }

  /** The data type of the values of {@code element}; empty if no data type holds them. */
  static Optional<DataType> dataType(SchemaElement element) {
    return Optional.ofNullable(
        element.isSetLogicalType() && !element.getLogicalType().isSetUNKNOWN()
            ? logicalType(element.getLogicalType())
            : element.isSetConverted_type()
                ? convertedType(element, element.getConverted_type())
                : physicalType(element.getType()));
  }

  private static DataType physicalType(Type type) {
    return switch (type) {
      case BOOLEAN -> DataType.BOOL;
      case INT32 -> DataType.INT32;
      case INT64 -> DataType.INT64;
      case FLOAT -> DataType.FLOAT32;
      case DOUBLE -> DataType.FLOAT64;
      case BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY -> DataType.BINARY;
      case INT96 -> DataType.timestamp(9);
    };
  }

  // null if no data type holds the values.
  private static DataType logicalType(LogicalType type) {
    if (type.isSetSTRING() || type.isSetENUM() || type.isSetJSON()) {
      return DataType.STRING;
    } else if (type.isSetBSON() || type.isSetUUID()) {
      return DataType.BINARY;
    } else if (type.isSetINTEGER()) {
      return integer(type.getINTEGER().getBitWidth(), type.getINTEGER().isIsSigned());
    } else if (type.isSetDECIMAL()) {
      return decimal(type.getDECIMAL().getPrecision(), type.getDECIMAL().getScale());
    } else if (type.isSetDATE()) {
      return DataType.DATE;
    } else if (type.isSetTIME()) {
      return type.getTIME().getUnit().isSetMILLIS() ? DataType.TIME : null;
    } else if (type.isSetTIMESTAMP()) {
      TimeUnit unit = type.getTIMESTAMP().getUnit();
      int precision = unit.isSetMILLIS() ? 3 : unit.isSetMICROS() ? 6 : 9;
      return DataType.timestamp(precision, type.getTIMESTAMP().isIsAdjustedToUTC());
    }
    return null;
  }

  private static DataType convertedType(SchemaElement element, ConvertedType type) {
    return switch (type) {
      case UTF8, ENUM, JSON -> DataType.STRING;
      case BSON -> DataType.BINARY;
      case DECIMAL -> decimal(element.getPrecision(), element.getScale());
      case DATE -> DataType.DATE;
      case TIME_MILLIS -> DataType.TIME;
      case TIMESTAMP_MILLIS -> DataType.timestamp(3, true);
      case TIMESTAMP_MICROS -> DataType.timestamp(6, true);
      case INT_8 -> DataType.INT8;
      case INT_16, UINT_8 -> DataType.INT16;
      case INT_32, UINT_16 -> DataType.INT32;
      case INT_64, UINT_32 -> DataType.INT64;
      case MAP, MAP_KEY_VALUE, LIST, TIME_MICROS, UINT_64, INTERVAL -> null;
    };
  }

  // An unsigned integer is held by the next wider signed type.
  private static DataType integer(int bits, boolean isSigned) {
    return switch (isSigned ? bits : 2 * bits) {
      case 8 -> DataType.INT8;
      case 16 -> DataType.INT16;
      case 32 -> DataType.INT32;
      case 64 -> DataType.INT64;
      default -> null;
    };
  }

  private static DataType decimal(int precision, int scale) {
    boolean isHeld =
        precision >= 1 && precision <= MAX_PRECISION && scale >= 0 && scale <= precision;
    return isHeld ? DataType.decimal(precision, scale) : null;
  }

  /** Whether the values are integers without sign. */
  static boolean isUnsigned(SchemaElement element) {
    if (element.isSetLogicalType()) {
      return element.getLogicalType().isSetINTEGER()
          && !element.getLogicalType().getINTEGER().isIsSigned();
    }
    return element.isSetConverted_type() && element.getConverted_type().name().startsWith("UINT_");
  }

  /** The type as it is named in messages. */
  static String describe(SchemaElement element) {
    Object annotation =
        element.isSetLogicalType()
            ? element.getLogicalType().getFieldValue()
            : element.isSetConverted_type() ? element.getConverted_type() : null;
    return annotation == null ? element.getType().name() : element.getType() + " " + annotation;
  }
}
