package io.millrace.operators.row;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.testing.DataTypes;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.NullType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.YearMonthIntervalType;
import org.apache.flink.table.types.logical.YearMonthIntervalType.YearMonthResolution;
import org.apache.flink.table.types.logical.ZonedTimestampType;
import org.apache.flink.table.types.utils.TypeConversions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SchemaConverterTest {
  @Test
  void everyTypeComesBack() {
    Stream<DataType> precisions =
        IntStream.rangeClosed(0, 9)
            .boxed()
            .flatMap(p -> Stream.of(DataType.timestamp(p), DataType.timestamp(p, true)));
    Stream<DataType> decimals =
        IntStream.rangeClosed(1, 38).mapToObj(precision -> DataType.decimal(precision, 1));
    Schema schema =
        DataTypes.schema(
            Stream.of(DataTypes.flat().stream(), DataTypes.nested().stream(), precisions, decimals)
                .flatMap(types -> types)
                .toList());
    assertThat(SchemaConverter.toSchema(SchemaConverter.toRowType(schema))).isEqualTo(schema);
    assertThat(SchemaConverter.toSchema(SchemaConverter.toDataType(schema))).isEqualTo(schema);
  }

  @Test
  void nullabilityIsKept() {
    Schema schema =
        Schema.of(
            new Field("id", DataType.INT64, false),
            new Field("parts", DataType.struct(new Field("name", DataType.STRING, false)), false));
    assertThat(SchemaConverter.toSchema(SchemaConverter.toRowType(schema))).isEqualTo(schema);
  }

  @Test
  void aDictionaryIsOfItsValuesAndTheRowKindIsNoField() {
    Schema schema =
        RowKindColumn.addTo(Schema.of(Field.of("city", DataType.dictionary(DataType.STRING))));
    assertThat(SchemaConverter.toRowType(schema))
        .isEqualTo(SchemaConverter.toRowType(Schema.of(Field.of("city", DataType.STRING))));
  }

  static Stream<LogicalType> unsupported() {
    return Stream.of(
        new MapType(new IntType(), new IntType()),
        new MultisetType(new IntType()),
        new ZonedTimestampType(3),
        new YearMonthIntervalType(YearMonthResolution.YEAR),
        new NullType());
  }

  @ParameterizedTest
  @MethodSource("unsupported")
  void anUnsupportedTypeIsNamedWithItsColumn(LogicalType type) {
    RowType nested = RowType.of(new LogicalType[] {new ArrayType(type)}, new String[] {"inner"});
    RowType rowType =
        RowType.of(new LogicalType[] {new IntType(), nested}, new String[] {"id", "outer"});
    assertThatThrownBy(() -> SchemaConverter.toSchema(rowType))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("column 'outer.inner.element' is " + type.asSummaryString());
  }

  @Test
  void aDataTypeThatIsNoRowIsRefused() {
    assertThatThrownBy(
            () -> SchemaConverter.toSchema(TypeConversions.fromLogicalToDataType(new IntType())))
        .hasMessage("INT is not a ROW");
  }
}
