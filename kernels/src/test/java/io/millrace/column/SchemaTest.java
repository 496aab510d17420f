// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.millrace.column.DataType.Field;
import io.millrace.testing.DataTypes;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SchemaTest {
  private final Schema schema =
      Schema.of(
          Field.of("id", DataType.INT64),
          new Field("name", DataType.STRING, false),
          Field.of("price", DataType.decimal(10, 2)));

  @Test
  void columnsAreFoundByName() {
    assertThat(schema.size()).isEqualTo(3);
    assertThat(schema.names()).containsExactly("id", "name", "price");
    assertThat(schema.indexOf("price")).isEqualTo(2);
    assertThat(schema.type(1)).isEqualTo(DataType.STRING);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> schema.indexOf("cost"))
        .withMessage("there is no column 'cost'; the columns are id, name, price");
  }

  @Test
  void selectKeepsTheOrderAskedFor() {
    assertThat(schema.select(List.of("price", "id")))
        .isEqualTo(
            Schema.of(Field.of("price", DataType.decimal(10, 2)), Field.of("id", DataType.INT64)));
  }

  @Test
  void namesAreUnique() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Schema.of(Field.of("a", DataType.INT32), Field.of("a", DataType.INT64)))
        .withMessage("two columns are named 'a'");
  }

  @Test
  void isWrittenAsInSql() {
    assertThat(schema).hasToString("(id BIGINT, name STRING NOT NULL, price DECIMAL(10, 2))");
  }

  @Test
  void equalSchemasShareTheirFingerprintAndDifferentOnesDoNot() {
    Set<Long> fingerprints = new HashSet<>();
    List<DataType> types = DataTypes.all();
    for (DataType type : types) {
      Schema nullable = Schema.of(Field.of("c", type));
      assertThat(nullable.fingerprint()).isEqualTo(Schema.of(Field.of("c", type)).fingerprint());
      fingerprints.add(nullable.fingerprint());
      fingerprints.add(Schema.of(new Field("c", type, false)).fingerprint());
      fingerprints.add(Schema.of(Field.of("d", type)).fingerprint());
    }
    assertThat(fingerprints).hasSize(3 * types.size());
  }

  @Test
  void namesAndNestedFieldsDoNotRunIntoEachOther() {
    Schema two = Schema.of(Field.of("a", DataType.INT32), Field.of("b", DataType.INT32));
    Schema one = Schema.of(Field.of("a INT, b", DataType.INT32));
    assertThat(one.toString()).isEqualTo(two.toString());
    assertThat(one.fingerprint()).isNotEqualTo(two.fingerprint());

    DataType nullableElements = DataType.list(DataType.INT32);
    DataType elements =
        new DataType(
            TypeId.LIST, 0, 0, false, List.of(new Field("element", DataType.INT32, false)));
    assertThat(Schema.of(Field.of("c", elements)).fingerprint())
        .isNotEqualTo(Schema.of(Field.of("c", nullableElements)).fingerprint());
  }
}
