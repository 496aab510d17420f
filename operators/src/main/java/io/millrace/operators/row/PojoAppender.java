// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.java.typeutils.PojoField;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.types.DataType;

/**
 * Appends POJOs: each column gets the POJO's field with the column's name, read through a method
 * handle and converted by Flink's converter for the field's class.
 *
 * @param <T> the POJO's class
 */
@Internal
public final class PojoAppender<T> implements RowAppender<T> {
  private final RowDataAppender appender;
  private final MethodHandle[] getters;
  private final DataStructureConverter<Object, Object>[] converters;
  private final GenericRowData row;

  /**
   * Prepares the fields.
   *
   * @throws IllegalArgumentException if a column has no field, or its field has a class that does
   *     not fit the column's type
   */
  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
  public PojoAppender(PojoTypeInfo<T> type, RowTableBuilder table) {
    List<Field> fields = RowKindColumn.rowFields(table.schema());
    List<DataType> dataTypes = SchemaConverter.toDataType(table.schema()).getChildren();
    this.appender = new RowDataAppender(table);
    this.getters = new MethodHandle[fields.size()];
    this.converters = new DataStructureConverter[fields.size()];
    this.row = new GenericRowData(fields.size());
    for (int i = 0; i < fields.size(); i++) {
      PojoField field = field(type, fields.get(i));
      getters[i] = getter(field);
      converters[i] = converter(field, dataTypes.get(i));
      converters[i].open(type.getTypeClass().getClassLoader());
    }
  }

  /** A factory of appenders of POJOs of {@code type}. */
  public static <T> Factory<T> factory(PojoTypeInfo<T> type) {
    return table -> new PojoAppender<>(type, table);
  }

  /**
   * Checks that POJOs of {@code type} have a field for each column, with a class that fits the
   * column's type.
   *
   * @throws IllegalArgumentException if a column has no field, or its field has a class that does
   *     not fit
   */
  public static void check(PojoTypeInfo<?> type, List<Field> columns) {
    List<DataType> types = SchemaConverter.toDataType(new Schema(columns)).getChildren();
    for (int i = 0; i < columns.size(); i++) {
      converter(field(type, columns.get(i)), types.get(i));
    }
  }

  static PojoField field(PojoTypeInfo<?> type, Field column) {
    int index = type.getFieldIndex(column.name());
    if (index < 0) {
      throw new IllegalArgumentException(
          type + " has no field '" + column.name() + "' for the column " + column);
    }
    return type.getPojoFieldAt(index);
  }

  // Flink's POJO rules allow private fields with getters; Flink's serializer reads the field, too.
  private static MethodHandle getter(PojoField field) {
    try {
      field.getField().setAccessible(true);
      return MethodHandles.lookup()
          .unreflectGetter(field.getField())
          .asType(MethodType.methodType(Object.class, Object.class));
    } catch (IllegalAccessException e) {
      throw new IllegalArgumentException("the field " + field + " cannot be read", e);
    }
  }

  static DataStructureConverter<Object, Object> converter(PojoField field, DataType type) {
    try {
      return DataStructureConverters.getConverter(type.bridgedTo(field.getField().getType()));
    } catch (ValidationException e) {
      throw new IllegalArgumentException("the field " + field + " does not fit " + type, e);
    }
  }

  @Override
  public void append(T pojo) {
    for (int i = 0; i < getters.length; i++) {
      row.setField(i, converters[i].toInternalOrNull(read(getters[i], pojo)));
    }
    appender.append(row);
  }

  private static Object read(MethodHandle getter, Object pojo) {
    try {
      return (Object) getter.invokeExact(pojo);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("reading a field threw a checked exception", e);
    }
  }
}
