// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;

/**
 * Schemas to and from Arrow's. Arrow schemas are in message format: the field of a DICTIONARY has
 * the type of the values and an encoding that names the dictionary; dictionaries are numbered from
 * 0, depth first.
 *
 * <p>A schema that goes to Arrow and back is the same. All decimals become decimal128 of the
 * declared precision. TIMESTAMP(0..3) becomes timestamp[ms], (4..6) timestamp[us], and (7..9),
 * whose range timestamp[ns] has not, a struct of timestamp[ms] "millis" and int32 "nanos_of_milli";
 * the precision is kept in the field's metadata under {@value #PRECISION_KEY}. A timestamp with
 * time zone has the zone "UTC".
 *
 * <p>Types accepted from Arrow beside those: timestamp of seconds, which becomes TIMESTAMP(0), and
 * of nanoseconds, TIMESTAMP(9); any time zone, which means an instant; time of any unit, cut to
 * milliseconds; large strings, binaries and lists; dictionary codes of any integer type.
 */
@PublicEvolving
public final class ArrowSchemaConverter {
  static final String PRECISION_KEY = "millrace.timestamp.precision";

  private static final String ZONE = "UTC";
  private static final Set<Integer> INDEX_WIDTHS = Set.of(8, 16, 32, 64);
  private static final ArrowType INT32 = new ArrowType.Int(32, true);

  private long nextDictionary;

  private ArrowSchemaConverter() {}

  /** The Arrow schema of {@code schema}, in message format. */
  public static org.apache.arrow.vector.types.pojo.Schema toArrow(Schema schema) {
    ArrowSchemaConverter converter = new ArrowSchemaConverter();
    return new org.apache.arrow.vector.types.pojo.Schema(
        schema.fields().stream().map(converter::field).toList());
  }

  /**
   * The schema of an Arrow schema in message format.
   *
   * @throws ArrowTypeException if a column's type is not supported
   * @throws IllegalArgumentException if two columns have one name
   */
  public static Schema fromArrow(org.apache.arrow.vector.types.pojo.Schema schema) {
    return new Schema(
        schema.getFields().stream().map(field -> fieldFromArrow(field, nameOf(field))).toList());
  }

  /** As {@link #fromArrow}, the type of one field. */
  public static DataType typeOf(Field field) {
    return fieldFromArrow(field).type();
  }

  /** As {@link #fromArrow}, one field. */
  public static DataType.Field fieldFromArrow(Field field) {
    return fieldFromArrow(field, nameOf(field));
  }

  /** The field's name, which Arrow lets out; empty then. */
  static String nameOf(Field field) {
    return field.getName() == null ? "" : field.getName();
  }

  /** As {@link #toArrow}, one field. */
  public static Field toArrow(DataType.Field field) {
    return new ArrowSchemaConverter().field(field);
  }

  /**
   * A field for the values of each dictionary that {@code fields} refer to, by number; dictionaries
   * that others refer to come before them.
   *
   * @param fields in message format
   */
  public static Map<Long, Field> dictionaryFields(List<Field> fields) {
    Map<Long, Field> found = new LinkedHashMap<>();
    for (Field field : fields) {
      found.putAll(dictionaryFields(field.getChildren()));
      if (field.getDictionary() != null) {
        FieldType values = new FieldType(true, field.getType(), null, field.getMetadata());
        found.put(
            field.getDictionary().getId(), new Field(field.getName(), values, field.getChildren()));
      }
    }
    return found;
  }

  private Field field(DataType.Field field) {
    DataType type = field.type();
    DictionaryEncoding encoding = null;
    if (type.id() == TypeId.DICTIONARY) {
      encoding = new DictionaryEncoding(nextDictionary++, false, new ArrowType.Int(32, true));
      type = type.fields().get(0).type();
    }
    Map<String, String> metadata =
        isTimestamp(type) ? Map.of(PRECISION_KEY, Integer.toString(type.precision())) : Map.of();
    return new Field(
        field.name(),
        new FieldType(field.nullable(), arrowType(type), encoding, metadata),
        children(type));
  }

  private static boolean isTimestamp(DataType type) {
    return switch (type.id()) {
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> true;
      default -> false;
    };
  }

  private List<Field> children(DataType type) {
    if (type.id() != TypeId.TIMESTAMP_NANOS) {
      return type.fields().stream().map(this::field).toList();
    }
    ArrowType millis = timestamp(TimeUnit.MILLISECOND, type);
    return List.of(
        new Field("millis", FieldType.notNullable(millis), List.of()),
        new Field("nanos_of_milli", FieldType.notNullable(INT32), List.of()));
  }

  private static ArrowType arrowType(DataType type) {
    return switch (type.id()) {
      case BOOL -> ArrowType.Bool.INSTANCE;
      case INT8, INT16, INT32, INT64 -> new ArrowType.Int(type.id().byteWidth() * Byte.SIZE, true);
      case FLOAT32 -> new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE);
      case FLOAT64 -> new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE);
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          new ArrowType.Decimal(type.precision(), type.scale(), 128);
      case DATE -> new ArrowType.Date(DateUnit.DAY);
      case TIME -> new ArrowType.Time(TimeUnit.MILLISECOND, 32);
      case TIMESTAMP_MILLIS -> timestamp(TimeUnit.MILLISECOND, type);
      case TIMESTAMP_MICROS -> timestamp(TimeUnit.MICROSECOND, type);
      case STRING -> ArrowType.Utf8.INSTANCE;
      case BINARY -> ArrowType.Binary.INSTANCE;
      case LIST -> ArrowType.List.INSTANCE;
      case STRUCT, TIMESTAMP_NANOS -> ArrowType.Struct.INSTANCE;
      case DICTIONARY ->
          throw new IllegalArgumentException("a dictionary of dictionaries: " + type);
    };
  }

  private static ArrowType timestamp(TimeUnit unit, DataType type) {
    return new ArrowType.Timestamp(unit, type.withTimeZone() ? ZONE : null);
  }

  /** {@code path} names the field in errors: the names of its parents and its own. */
  private static DataType.Field fieldFromArrow(Field field, String path) {
    DataType type = valueType(field, path);
    if (field.getDictionary() != null) {
      checkIndexType(field, path);
    }
    return new DataType.Field(
        nameOf(field),
        field.getDictionary() == null ? type : DataType.dictionary(type),
        field.isNullable());
  }

  private static void checkIndexType(Field field, String path) {
    ArrowType.Int index = field.getDictionary().getIndexType();
    if (index != null && !INDEX_WIDTHS.contains(index.getBitWidth())) {
      throw unsupported(field, path);
    }
  }

  private static DataType valueType(Field field, String path) {
    ArrowType type = field.getType();
    return switch (type.getTypeID()) {
      case Bool -> DataType.BOOL;
      case Int -> integer(field, path, (ArrowType.Int) type);
      case FloatingPoint -> floatingPoint(field, path, (ArrowType.FloatingPoint) type);
      case Decimal -> decimal(field, path, (ArrowType.Decimal) type);
      case Date -> {
        if (((ArrowType.Date) type).getUnit() != DateUnit.DAY) {
          throw unsupported(field, path);
        }
        yield DataType.DATE;
      }
      case Time -> time(field, path, (ArrowType.Time) type);
      case Timestamp -> timestamp(field, path, (ArrowType.Timestamp) type);
      case Utf8, LargeUtf8 -> DataType.STRING;
      case Binary, LargeBinary -> DataType.BINARY;
      case List, LargeList -> list(field, path);
      case Struct -> struct(field, path);
      default -> throw unsupported(field, path);
    };
  }

  private static List<DataType.Field> fieldsFromArrow(List<Field> fields, String path) {
    List<DataType.Field> converted = new ArrayList<>();
    for (Field field : fields) {
      converted.add(fieldFromArrow(field, path + "." + nameOf(field)));
    }
    return converted;
  }

  private static DataType integer(Field field, String path, ArrowType.Int type) {
    if (!type.getIsSigned()) {
      throw new ArrowTypeException(
          "column '"
              + path
              + "' is of the Arrow type uint"
              + type.getBitWidth()
              + ", which is not supported: cast it to a signed integer");
    }
    return switch (type.getBitWidth()) {
      case 8 -> DataType.INT8;
      case 16 -> DataType.INT16;
      case 32 -> DataType.INT32;
      case 64 -> DataType.INT64;
      default -> throw unsupported(field, path);
    };
  }

  private static DataType floatingPoint(Field field, String path, ArrowType.FloatingPoint type) {
    return switch (type.getPrecision()) {
      case SINGLE -> DataType.FLOAT32;
      case DOUBLE -> DataType.FLOAT64;
      case HALF -> throw unsupported(field, path);
    };
  }

  private static DataType decimal(Field field, String path, ArrowType.Decimal type) {
    int precision = type.getPrecision();
    int scale = type.getScale();
    boolean fits = 1 <= precision && precision <= 38 && 0 <= scale && scale <= precision;
    if (type.getBitWidth() != 128 || !fits) {
      throw unsupported(field, path);
    }
    return DataType.decimal(precision, scale);
  }

  private static DataType time(Field field, String path, ArrowType.Time type) {
    int width =
        switch (type.getUnit()) {
          case SECOND, MILLISECOND -> Integer.SIZE;
          case MICROSECOND, NANOSECOND -> Long.SIZE;
        };
    if (type.getBitWidth() != width) {
      throw unsupported(field, path);
    }
    return DataType.TIME;
  }

  private static DataType list(Field field, String path) {
    if (field.getChildren().size() != 1) {
      throw unsupported(field, path);
    }
    return new DataType(TypeId.LIST, 0, 0, false, fieldsFromArrow(field.getChildren(), path));
  }

  private static DataType timestamp(Field field, String path, ArrowType.Timestamp type) {
    boolean withTimeZone = type.getTimezone() != null;
    return switch (type.getUnit()) {
      case SECOND -> DataType.timestamp(0, withTimeZone);
      case MILLISECOND -> DataType.timestamp(precision(field, path, 0, 3), withTimeZone);
      case MICROSECOND -> DataType.timestamp(precision(field, path, 4, 6), withTimeZone);
      case NANOSECOND -> DataType.timestamp(9, withTimeZone);
    };
  }

  /**
   * The precision in the metadata, which must be in the unit's range; the highest precision if
   * there is none.
   */
  private static int precision(Field field, String path, int lowest, int highest) {
    String text = field.getMetadata().get(PRECISION_KEY);
    if (text == null) {
      return highest;
    }
    if (text.length() != 1 || text.charAt(0) < '0' + lowest || text.charAt(0) > '0' + highest) {
      throw unsupported(field, path);
    }
    return text.charAt(0) - '0';
  }

  private static DataType struct(Field field, String path) {
    if (field.getMetadata().get(PRECISION_KEY) == null) {
      return new DataType(TypeId.STRUCT, 0, 0, false, fieldsFromArrow(field.getChildren(), path));
    }
    List<Field> children = field.getChildren();
    if (children.size() == 2
        && children.get(0).getType() instanceof ArrowType.Timestamp millis
        && millis.getUnit() == TimeUnit.MILLISECOND
        && children.get(1).getType().equals(INT32)) {
      return DataType.timestamp(precision(field, path, 7, 9), millis.getTimezone() != null);
    }
    throw unsupported(field, path);
  }

  private static ArrowTypeException unsupported(Field field, String path) {
    return new ArrowTypeException(
        "column '"
            + path
            + "' is of the Arrow type "
            + field.getType()
            + (field.getMetadata().isEmpty() ? "" : " with the metadata " + field.getMetadata())
            + ", which is not supported");
  }
}
