// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.PojoField;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.types.DataType;

/**
 * Makes POJOs: each column's value is converted by Flink's converter for the class of the POJO's
 * field with the column's name, and written to this field through a method handle. Other fields
 * keep the values that the constructor gives them. Each POJO is a new object.
 *
 * @param <T> the POJO's class
 */
@Internal
public final class PojoDecoder<T> implements RowDecoder.OfTables<T> {
  private static final MethodType SETTER =
      MethodType.methodType(void.class, Object.class, Object.class);

  private final List<Field> columns;
  private final MethodHandle constructor;
  private final MethodHandle[] setters;
  private final boolean[] primitive;
  private final DataStructureConverter<Object, Object>[] converters;
  private final RowData.FieldGetter[] getters;

  /**
   * Prepares the fields.
   *
   * @throws IllegalArgumentException as {@link #typeInformation}
   */
  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
  private PojoDecoder(PojoTypeInfo<T> type, Schema schema) {
    List<DataType> types = SchemaConverter.toDataType(schema).getChildren();
    this.columns = RowKindColumn.rowFields(schema);
    this.constructor = constructor(type);
    this.setters = new MethodHandle[columns.size()];
    this.primitive = new boolean[columns.size()];
    this.converters = new DataStructureConverter[columns.size()];
    this.getters = new RowData.FieldGetter[columns.size()];
    for (int i = 0; i < columns.size(); i++) {
      PojoField field = PojoAppender.field(type, columns.get(i));
      setters[i] = setter(field);
      primitive[i] = field.getField().getType().isPrimitive();
      converters[i] = PojoAppender.converter(field, types.get(i));
      converters[i].open(type.getTypeClass().getClassLoader());
      getters[i] = RowData.createFieldGetter(types.get(i).getLogicalType(), i);
    }
  }

  /** A factory of decoders that make POJOs of {@code type}. */
  public static <T> RowDecoder.Factory<T> factory(PojoTypeInfo<T> type) {
    return schema -> new PojoDecoder<>(type, schema);
  }

  /**
   * The type of POJOs that hold rows of {@code schema}.
   *
   * @throws IllegalArgumentException if Flink does not treat the class as a POJO, a column has no
   *     field or a field with a class that does not fit the column's type, or {@code schema} has a
   *     {@link RowKindColumn}
   */
  public static <T> PojoTypeInfo<T> typeInformation(Class<T> pojoClass, Schema schema) {
    if (!(TypeInformation.of(pojoClass) instanceof PojoTypeInfo<T> type)) {
      throw new IllegalArgumentException(
          "expected a POJO class with a public constructor and public fields or setters, got "
              + pojoClass);
    }
    if (RowKindColumn.isIn(schema)) {
      throw new IllegalArgumentException(
          "a POJO cannot hold the kind of a changelog's row: a deletion would become a row");
    }
    PojoAppender.check(type, schema.fields());
    return type;
  }

  private static MethodHandle constructor(PojoTypeInfo<?> type) {
    try {
      return MethodHandles.lookup()
          .unreflectConstructor(type.getTypeClass().getConstructor())
          .asType(MethodType.methodType(Object.class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(type + " has no public constructor", e);
    }
  }

  // Flink's POJO rules allow private fields with setters; Flink's serializer writes the field, too.
  private static MethodHandle setter(PojoField field) {
    try {
      field.getField().setAccessible(true);
      return MethodHandles.lookup().unreflectSetter(field.getField()).asType(SETTER);
    } catch (IllegalAccessException e) {
      throw new IllegalArgumentException("the field " + field + " cannot be written", e);
    }
  }

  @Override
  public RowDecoder<T> decoder(Table table, AccessScope scope) {
    RowDataDecoder rows = new RowDataDecoder(table, scope);
    return index -> pojo(rows.decode(index));
  }

  @SuppressWarnings("unchecked") // the type's constructor makes T
  private T pojo(RowData row) {
    try {
      Object pojo = constructor.invokeExact();
      for (int i = 0; i < setters.length; i++) {
        Object value = converters[i].toExternalOrNull(getters[i].getFieldOrNull(row));
        if (value == null && primitive[i]) {
          throw new IllegalArgumentException(
              "column '" + columns.get(i) + "' has a null, which a primitive field cannot hold");
        }
        setters[i].invokeExact(pojo, value);
      }
      return (T) pojo;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("making a POJO threw a checked exception", e);
    }
  }
}
