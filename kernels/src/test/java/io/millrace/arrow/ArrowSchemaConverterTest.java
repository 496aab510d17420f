// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.testing.DataTypes;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArrowSchemaConverterTest {

  @Test
  void everyTypeComesBackTheSame() {
    List<DataType> types =
        Stream.of(
                DataTypes.all().stream(),
                IntStream.rangeClosed(0, 9).mapToObj(DataType::timestamp),
                IntStream.rangeClosed(0, 9).mapToObj(p -> DataType.timestamp(p, true)),
                IntStream.rangeClosed(1, 38).mapToObj(p -> DataType.decimal(p, p / 2)),
                Stream.of(
                    DataType.dictionary(DataType.timestamp(2)),
                    DataType.list(DataType.dictionary(DataType.decimal(7, 7)))))
            .flatMap(stream -> stream)
            .toList();
    Schema schema = DataTypes.schema(types);
    assertThat(ArrowSchemaConverter.fromArrow(ArrowSchemaConverter.toArrow(schema)))
        .isEqualTo(schema);
  }

  @Test
  void nullabilityIsKept() {
    Schema schema =
        Schema.of(
            new DataType.Field("id", DataType.INT64, false),
            DataType.Field.of(
                "s", DataType.struct(new DataType.Field("x", DataType.STRING, false))));
    assertThat(ArrowSchemaConverter.fromArrow(ArrowSchemaConverter.toArrow(schema)))
        .isEqualTo(schema);
  }

  @Test
  void decimalsKeepTheirDeclaredPrecision() {
    Schema schema = Schema.of(DataType.Field.of("d", DataType.decimal(5, 2)));
    assertThat(ArrowSchemaConverter.toArrow(schema).findField("d").getType())
        .isEqualTo(new ArrowType.Decimal(5, 2, 128));
  }

  @Test
  void dictionariesAreNumberedDepthFirst() {
    DataType word = DataType.dictionary(DataType.STRING);
    Schema schema =
        Schema.of(
            DataType.Field.of("a", word),
            DataType.Field.of("b", DataType.list(word)),
            DataType.Field.of("c", word));
    List<Field> fields = ArrowSchemaConverter.toArrow(schema).getFields();
    assertThat(fields.get(0).getDictionary().getId()).isEqualTo(0);
    assertThat(fields.get(1).getChildren().get(0).getDictionary().getId()).isEqualTo(1);
    assertThat(fields.get(2).getDictionary().getId()).isEqualTo(2);
  }

  @Test
  void otherUnitsAndWidthsAreAccepted() {
    assertAccepted(new ArrowType.Timestamp(TimeUnit.SECOND, null), DataType.timestamp(0));
    assertAccepted(new ArrowType.Timestamp(TimeUnit.MILLISECOND, null), DataType.timestamp(3));
    assertAccepted(
        new ArrowType.Timestamp(TimeUnit.MICROSECOND, "Europe/Paris"), DataType.timestamp(6, true));
    assertAccepted(
        new ArrowType.Timestamp(TimeUnit.NANOSECOND, "UTC"), DataType.timestamp(9, true));
    assertAccepted(new ArrowType.Time(TimeUnit.SECOND, 32), DataType.TIME);
    assertAccepted(new ArrowType.Time(TimeUnit.NANOSECOND, 64), DataType.TIME);
    assertAccepted(new ArrowType.LargeUtf8(), DataType.STRING);
    assertAccepted(new ArrowType.LargeBinary(), DataType.BINARY);
    assertAccepted(new ArrowType.Decimal(9, 9, 128), DataType.decimal(9, 9));
  }

  private static void assertAccepted(ArrowType arrowType, DataType type) {
    assertThat(fromArrow(Field.nullable("c", arrowType)).type(0)).isEqualTo(type);
  }

  private static Schema fromArrow(Field field) {
    return ArrowSchemaConverter.fromArrow(
        new org.apache.arrow.vector.types.pojo.Schema(List.of(field)));
  }

  static List<ArrowType> unsupportedTypes() {
    return List.of(
        new ArrowType.FloatingPoint(FloatingPointPrecision.HALF),
        new ArrowType.Decimal(38, 2, 256),
        new ArrowType.Decimal(10, -2, 128),
        new ArrowType.Date(DateUnit.MILLISECOND),
        new ArrowType.Time(TimeUnit.SECOND, 64),
        new ArrowType.List(),
        new ArrowType.FixedSizeBinary(16),
        new ArrowType.Duration(TimeUnit.SECOND),
        new ArrowType.Utf8View(),
        new ArrowType.Null());
  }

  @ParameterizedTest
  @MethodSource("unsupportedTypes")
  void unsupportedTypesAreNamed(ArrowType type) {
    assertThatThrownBy(() -> fromArrow(Field.nullable("price", type)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("column 'price' is of the Arrow type " + type + ", which is not supported");
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 16, 32, 64})
  void unsignedIntegersAreRefusedButAsDictionaryCodes(int bits) {
    ArrowType.Int unsigned = new ArrowType.Int(bits, false);
    assertThatThrownBy(() -> fromArrow(Field.nullable("price", unsigned)))
        .isInstanceOf(ArrowTypeException.class)
        .hasMessage(
            "column 'price' is of the Arrow type uint"
                + bits
                + ", which is not supported: cast it to a signed integer");
    Field list = Field.nullablePrimitive("element", unsigned);
    assertThatThrownBy(
            () ->
                fromArrow(
                    new Field(
                        "prices", FieldType.nullable(ArrowType.List.INSTANCE), List.of(list))))
        .hasMessageStartingWith("column 'prices.element' is of the Arrow type uint" + bits);
    DictionaryEncoding encoding = new DictionaryEncoding(0, false, unsigned);
    FieldType type = new FieldType(true, new ArrowType.Utf8(), encoding);
    assertThat(fromArrow(new Field("word", type, List.of())))
        .isEqualTo(Schema.of(DataType.Field.of("word", DataType.dictionary(DataType.STRING))));
  }

  @Test
  void dictionaryCodesOfOddWidthAreRefused() {
    DictionaryEncoding encoding = new DictionaryEncoding(0, false, new ArrowType.Int(4, true));
    FieldType type = new FieldType(true, new ArrowType.Utf8(), encoding);
    assertThatThrownBy(() -> fromArrow(new Field("word", type, List.of())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'word'");
  }

  @Test
  void unsupportedTypesWithinOthersAreNamedByTheirPath() {
    Field inner = Field.nullable("inner", new ArrowType.Null());
    Field outer = new Field("outer", FieldType.nullable(ArrowType.Struct.INSTANCE), List.of(inner));
    assertThatThrownBy(() -> fromArrow(outer)).hasMessageContaining("column 'outer.inner'");
  }

  @Test
  void aPrecisionThatTheUnitHasNotIsRefused() {
    for (String precision : List.of("4", "-1", "", "10", "x")) {
      FieldType type =
          new FieldType(
              true,
              new ArrowType.Timestamp(TimeUnit.MILLISECOND, null),
              null,
              Map.of(ArrowSchemaConverter.PRECISION_KEY, precision));
      assertThatThrownBy(() -> fromArrow(new Field("ts", type, List.of())))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'ts'")
          .hasMessageContaining(ArrowSchemaConverter.PRECISION_KEY);
    }
  }
}
