// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import static io.millrace.column.DataType.INT32;
import static io.millrace.column.DataType.STRING;
import static io.millrace.expression.function.nested.NestedArguments.anyNullable;
import static io.millrace.expression.function.nested.NestedArguments.arrayElement;
import static io.millrace.expression.function.nested.NestedArguments.arrayOf;
import static io.millrace.expression.function.nested.NestedArguments.castTo;
import static io.millrace.expression.function.nested.NestedArguments.mapEntry;
import static io.millrace.expression.function.nested.NestedArguments.named;
import static io.millrace.expression.function.nested.NestedArguments.ofOneType;
import static io.millrace.expression.function.nested.NestedArguments.onHost;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import java.util.ArrayList;
import java.util.List;

/** Functions over maps. */
@Internal
public final class MapFunctions {
  private static final DataType MAP =
      DataType.map(Field.of("key", STRING), Field.of("value", INT32));

  private MapFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        named("MAP", Signature.of(STRING, INT32), Signature.of(STRING, INT32, STRING, INT32))
            .description("A map of keys, each followed by its value.")
            .sql(arguments -> "MAP[" + String.join(", ", arguments) + "]")
            .bind(MapFunctions::map),
        part("MAP_KEYS", "The keys of a map.", 0),
        part("MAP_VALUES", "The values of a map, in the order of its keys.", 1),
        named("MAP_ENTRIES", Signature.of(MAP))
            .description("The entries of a map, as rows of a key and a value.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, 1);
                  List<Field> entry = mapEntry(arguments, 0);
                  DataType row = DataType.struct(entry.toArray(Field[]::new));
                  return onHost("MAP_ENTRIES")
                      .host(ChosenElements.listOf(ArrayEdits::concat))
                      .call(arguments, arrayOf(row, true));
                }),
        named("MAP_FROM_ARRAYS", Signature.of(DataType.list(STRING), DataType.list(INT32)))
            .description("A map of an array of keys and an array of values, of the same length.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 2, 2);
                  DataType type =
                      DataType.map(arrayElement(arguments, 0), arrayElement(arguments, 1));
                  return onHost("MAP_FROM_ARRAYS")
                      .failing()
                      .host(MapFunctions::fromArrays)
                      .call(arguments, type);
                }),
        named("MAP_UNION", Signature.of(MAP, MAP))
            .description("The entries of all maps; of equal keys, that of the last map.")
            .bind(MapFunctions::union));
  }

  private static FunctionDefinition part(String name, String description, int index) {
    return named(name, Signature.of(MAP))
        .description(description)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 1);
              Field field = mapEntry(arguments, 0).get(index);
              return onHost(name)
                  .host(
                      ChosenElements.listOf(
                          (operands, row, chosen) -> addPart(operands[0], row, index, chosen)))
                  .call(arguments, arrayOf(field.type(), field.nullable()));
            });
  }

  private static void addPart(HostVector map, int row, int index, ChosenElements chosen) {
    HostVector part = map.elements().fields().get(index);
    for (int i = 0; i < map.length(row); i++) {
      chosen.add(part, map.firstElement(row) + i);
    }
  }

  /** Makes the map of a row from chosen keys and as many chosen values. */
  private static void write(
      HostVector result, int row, ChosenElements keys, ChosenElements values) {
    int first = result.appendElements(row, keys.count());
    keys.copyTo(result.elements().fields().get(0), first);
    values.copyTo(result.elements().fields().get(1), first);
  }

  private static TypedExpression map(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, Integer.MAX_VALUE);
    if (arguments.size() % 2 != 0) {
      throw new ExpressionException("expected a value for each key, got a key alone");
    }
    List<TypedExpression> keys = new ArrayList<>();
    List<TypedExpression> values = new ArrayList<>();
    for (int i = 0; i < arguments.size(); i += 2) {
      keys.add(arguments.get(i));
      values.add(arguments.get(i + 1));
    }
    keys = ofOneType(keys, context);
    values = ofOneType(values, context);
    Field key = new Field("key", keys.get(0).type(), anyNullable(keys));
    Field value = new Field("value", values.get(0).type(), anyNullable(values));
    List<TypedExpression> operands = new ArrayList<>(keys);
    operands.addAll(values);
    return onHost("MAP")
        .takesNulls()
        .host(MapFunctions::constructor)
        .call(operands, DataType.map(key, value), false);
  }

  private static void constructor(HostVector[] operands, HostVector result, Rows rows) {
    ChosenElements keys = new ChosenElements();
    ChosenElements values = new ChosenElements();
    int entries = operands.length / 2;
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      keys.clear();
      values.clear();
      for (int entry = 0; entry < entries; entry++) {
        keys.add(operands[entry], row);
        values.add(operands[entries + entry], row);
      }
      write(result, row, keys, values);
    }
  }

  private static void fromArrays(HostVector[] operands, HostVector result, Rows rows) {
    ChosenElements keys = new ChosenElements();
    ChosenElements values = new ChosenElements();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      if (operands[0].length(row) != operands[1].length(row)) {
        rows.refuse(
            row,
            "Invalid function MAP_FROM_ARRAYS call:\nThe length of the keys array %d is not equal to the length of the values array %d"
                .formatted(operands[0].length(row), operands[1].length(row)));
        continue;
      }
      keys.clear();
      values.clear();
      keys.addAll(operands[0], row);
      values.addAll(operands[1], row);
      write(result, row, keys, values);
    }
  }

  private static TypedExpression union(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 1, Integer.MAX_VALUE);
    List<Field> first = mapEntry(arguments, 0);
    Elements.checkEquatable(first.get(0).type());
    boolean nullableKeys = false;
    boolean nullableValues = false;
    for (int i = 0; i < arguments.size(); i++) {
      List<Field> entry = mapEntry(arguments, i);
      boolean isAlike =
          entry.get(0).type().equals(first.get(0).type())
              && entry.get(1).type().equals(first.get(1).type());
      if (!isAlike) {
        throw new ExpressionException(
            "expected maps of one type, got "
                + arguments.get(0).type()
                + " and "
                + arguments.get(i).type());
      }
      nullableKeys |= entry.get(0).nullable();
      nullableValues |= entry.get(1).nullable();
    }
    DataType type =
        DataType.map(
            new Field("key", first.get(0).type(), nullableKeys),
            new Field("value", first.get(1).type(), nullableValues));
    return onHost("MAP_UNION").host(MapFunctions::union).call(arguments, type);
  }

  /** Later maps come first, as in Flink. */
  private static void union(HostVector[] operands, HostVector result, Rows rows) {
    ChosenElements keys = new ChosenElements();
    ChosenElements values = new ChosenElements();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      keys.clear();
      values.clear();
      for (int map = operands.length - 1; map >= 0; map--) {
        addMissing(operands[map], row, keys, values);
      }
      write(result, row, keys, values);
    }
  }

  private static void addMissing(
      HostVector map, int row, ChosenElements keys, ChosenElements values) {
    HostVector mapKeys = map.elements().fields().get(0);
    int known = keys.count();
    for (int i = 0; i < map.length(row); i++) {
      int position = map.firstElement(row) + i;
      int compared = mapKeys.isNull(position) || known == 0 ? known : keys.count();
      if (!keys.containsWithin(compared, mapKeys, position, Elements::equal)) {
        keys.add(mapKeys, position);
        values.add(map.elements().fields().get(1), position);
      }
    }
  }

  /** The value of a key. */
  static TypedExpression value(List<TypedExpression> arguments, BindingContext context) {
    List<Field> entry = mapEntry(arguments, 0);
    Elements.checkEquatable(entry.get(0).type());
    TypedExpression key = castTo(entry.get(0).type(), arguments.get(1), context);
    return onHost("ITEM")
        .nullable()
        .host(HostFunction.ofRow(MapFunctions::value))
        .sql(operands -> operands.get(0) + "[" + operands.get(1) + "]")
        .call(List.of(arguments.get(0), key), entry.get(1).type());
  }

  private static void value(HostVector[] operands, HostVector result, int row) {
    HostVector keys = operands[0].elements().fields().get(0);
    HostVector values = operands[0].elements().fields().get(1);
    for (int i = 0; i < operands[0].length(row); i++) {
      int position = operands[0].firstElement(row) + i;
      if (!keys.isNull(position) && Elements.equal(keys, position, operands[1], row)) {
        result.copy(row, values, position);
        return;
      }
    }
    result.setNull(row);
  }
}
