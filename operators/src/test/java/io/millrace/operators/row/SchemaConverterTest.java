// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.testing.DataTypes;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.DayTimeIntervalType;
import org.apache.flink.table.types.logical.DayTimeIntervalType.DayTimeResolution;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.NullType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimeType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.table.types.logical.YearMonthIntervalType;
import org.apache.flink.table.types.logical.YearMonthIntervalType.YearMonthResolution;
import org.apache.flink.table.types.logical.ZonedTimestampType;
import org.apache.flink.table.types.utils.TypeConversions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
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
            Stream.of(
                    DataTypes.flat().stream(),
                    DataTypes.nested().stream(),
                    Stream.of(DataType.BITMAP, DataType.list(DataType.BITMAP)),
                    precisions,
                    decimals)
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

  @Test
  void intervalsAreNumbers() {
    RowType rowType =
        RowType.of(
            new LogicalType[] {
              new YearMonthIntervalType(YearMonthResolution.YEAR),
              new DayTimeIntervalType(DayTimeResolution.DAY_TO_SECOND)
            },
            new String[] {"months", "millis"});
    assertThat(SchemaConverter.toSchema(rowType))
        .isEqualTo(
            Schema.of(Field.of("months", DataType.INT32), Field.of("millis", DataType.INT64)));
  }

  static Stream<LogicalType> unsupported() {
    return Stream.of(new MultisetType(new IntType()), new ZonedTimestampType(3), new NullType());
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
  void aDataTypeOtherThanARowIsRefused() {
    assertThatThrownBy(
            () -> SchemaConverter.toSchema(TypeConversions.fromLogicalToDataType(new IntType())))
        .hasMessage("expected a ROW, got INT");
  }

  @Test
  void rowsOfOtherNamesAndNullabilityFitTheirColumns() {
    Schema schema =
        RowKindColumn.addTo(
            Schema.of(
                new Field("id", DataType.INT64, false),
                Field.of("city", DataType.dictionary(DataType.STRING)),
                Field.of("parts", DataType.list(DataType.struct(Field.of("x", DataType.TIME))))));
    LogicalType parts =
        new ArrayType(
            false, RowType.of(new LogicalType[] {new TimeType(0)}, new String[] {"other"}));
    SchemaConverter.checkRows(
        InternalTypeInfo.ofFields(new BigIntType(), new VarCharType(5), parts), schema);
  }

  static Stream<Arguments> otherTypes() {
    return Stream.of(
        Arguments.of(DataType.STRING, new IntType()),
        Arguments.of(DataType.INT64, new IntType()),
        Arguments.of(DataType.timestamp(3), new TimestampType(6)),
        Arguments.of(DataType.timestamp(3), new LocalZonedTimestampType(3)),
        Arguments.of(DataType.decimal(10, 2), new DecimalType(10, 3)),
        Arguments.of(DataType.list(DataType.INT32), new ArrayType(new BigIntType())),
        Arguments.of(DataType.list(DataType.INT32), new IntType()),
        Arguments.of(
            DataType.struct(Field.of("x", DataType.INT32)),
            RowType.of(new IntType(), new IntType())));
  }

  @ParameterizedTest
  @MethodSource("otherTypes")
  void rowsOfAnotherTypeAreRefusedWithTheColumn(DataType column, LogicalType ofRows) {
    Schema schema = Schema.of(Field.of("id", DataType.INT32), Field.of("price", column));
    assertThatThrownBy(
            () ->
                SchemaConverter.checkRows(InternalTypeInfo.ofFields(new IntType(), ofRows), schema))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("column 'price' is ")
        .hasMessageEndingWith(
            "but the stream's rows have " + ofRows.asSummaryString() + " there, in field 'f1'");
    assertThatThrownBy(
            () -> SchemaConverter.checkRows(InternalTypeInfo.ofFields(new IntType()), schema))
        .hasMessageStartingWith("the stream's rows have 1 fields, but the schema has 2 columns");
  }
}
