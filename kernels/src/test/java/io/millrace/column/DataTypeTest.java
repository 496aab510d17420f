// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.millrace.column.DataType.Field;
import io.millrace.testing.DataTypes;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DataTypeTest {
  @ParameterizedTest
  @CsvSource({
    "1, DECIMAL32",
    "9, DECIMAL32",
    "10, DECIMAL64",
    "18, DECIMAL64",
    "19, DECIMAL128",
    "38, DECIMAL128"
  })
  void aDecimalIsTheNarrowestThatHoldsItsDigits(int precision, TypeId id) {
    assertThat(DataType.decimal(precision, 0).id()).isEqualTo(id);
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "39, 0", "5, 6", "5, -1"})
  void decimalsThatAreNotThereAreRefused(int precision, int scale) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DataType.decimal(precision, scale))
        .withMessage("no DECIMAL(" + precision + ", " + scale + ")");
  }

  @ParameterizedTest
  @CsvSource({
    "0, TIMESTAMP_MILLIS",
    "3, TIMESTAMP_MILLIS",
    "4, TIMESTAMP_MICROS",
    "6, TIMESTAMP_MICROS",
    "7, TIMESTAMP_NANOS",
    "9, TIMESTAMP_NANOS"
  })
  void aTimestampIsTheCoarsestThatHoldsItsFraction(int precision, TypeId id) {
    assertThat(DataType.timestamp(precision).id()).isEqualTo(id);
    assertThat(DataType.timestamp(precision, true))
        .isNotEqualTo(DataType.timestamp(precision, false));
  }

  @Test
  void timestampsThatAreNotThereAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> DataType.timestamp(10));
    assertThatIllegalArgumentException().isThrownBy(() -> DataType.timestamp(-1));
  }

  @Test
  void nestedTypesNameTheirChildren() {
    DataType struct =
        DataType.struct(Field.of("a", DataType.INT8), new Field("b", DataType.STRING, false));
    assertThat(struct.childTypes()).containsExactly(DataType.INT8, DataType.STRING);
    assertThat(struct).hasToString("ROW<a TINYINT, b STRING NOT NULL>");
    assertThat(DataType.list(struct).childTypes()).containsExactly(DataType.INT32, struct);
    assertThat(DataType.list(DataType.INT64)).hasToString("ARRAY<BIGINT>");
    assertThat(DataType.STRING.childTypes()).containsExactly(DataType.INT32);
    assertThat(DataType.timestamp(9).childTypes()).containsExactly(DataType.INT64, DataType.INT32);
    assertThat(DataType.dictionary(DataType.STRING).childTypes()).containsExactly(DataType.STRING);
    assertThat(DataType.INT32.childTypes()).isEmpty();
  }

  @Test
  void theTestsKnowEveryKind() {
    Set<TypeId> tested = EnumSet.noneOf(TypeId.class);
    DataTypes.all().forEach(type -> tested.add(type.id()));
    assertThat(tested).containsExactlyInAnyOrder(TypeId.values());
  }
}
