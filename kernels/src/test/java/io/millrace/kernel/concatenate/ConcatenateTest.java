// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.concatenate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ConcatenateTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Schema scalars() {
    return new Schema(
        DataTypes.schema(DataTypes.all()).fields().stream()
            .filter(field -> field.type().id().isScalar())
            .toList());
  }

  @Test
  void theRowsOfAllTablesComeInTheirOrder() {
    Schema schema = scalars();
    for (int round = 0; round < 30; round++) {
      List<Table> tables = new ArrayList<>();
      List<List<Object>> expected = new ArrayList<>();
      for (int i = random.random().nextInt(4); i >= 0; i--) {
        double nulls = random.random().nextBoolean() ? 0.3 : 0;
        int rows = random.random().nextInt(4) == 0 ? 0 : random.random().nextInt(300);
        RandomTables values = new RandomTables(random.random(), nulls);
        Table table =
            random.random().nextBoolean()
                ? values.generate(schema, rows, device)
                : values.generateSliced(schema, rows, device);
        tables.add(table);
        expected.addAll(device.rows(table));
      }
      try (Table joined =
          Concatenate.concatenate(schema, tables, device.stream(), device.memory())) {
        assertThat(joined.schema()).isEqualTo(schema);
        assertThat(device.rows(joined)).isEqualTo(expected);
      } finally {
        tables.forEach(Table::close);
      }
    }
  }

  @Test
  void noTablesGiveNoRows() {
    try (Table joined =
        Concatenate.concatenate(scalars(), List.of(), device.stream(), device.memory())) {
      assertThat(device.rows(joined)).isEmpty();
    }
  }

  @Test
  void twoGibiRowsOrBytesAreTooLarge() {
    Schema strings = Schema.of(Field.of("s", DataType.STRING));
    List<List<Object>> rows = List.of(List.of("x".repeat(1 << 20)));
    try (Table megabyte = TableBuilder.ofRows(strings, rows).build(device);
        Table noColumns = new Table(Schema.of(), List.of(), 1 << 30)) {
      assertThatThrownBy(() -> concatenate(strings, Collections.nCopies(1 << 11, megabyte)))
          .isInstanceOf(GpuOutOfMemoryException.class)
          .hasMessageContaining("2 Gi bytes of strings");
      assertThatThrownBy(() -> concatenate(Schema.of(), List.of(noColumns, noColumns)))
          .isInstanceOf(GpuOutOfMemoryException.class)
          .hasMessageContaining("2 Gi rows");
    }
  }

  private void concatenate(Schema schema, List<Table> tables) {
    Concatenate.concatenate(schema, tables, device.stream(), device.memory()).close();
  }

  @Test
  void listsAreRefused() {
    Schema schema = Schema.of(Field.of("list", DataType.list(DataType.INT32)));
    try (Table table = new RandomTables(random.random(), 0).generate(schema, 3, device)) {
      assertThatThrownBy(
              () ->
                  Concatenate.concatenate(schema, List.of(table), device.stream(), device.memory()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith(
              "expected a type other than ARRAY, ROW and DICTIONARY for column 'list', got ");
    }
  }

  @Test
  void argumentsHaveTheFieldsOfTheKernels() {
    CudaStructures cuda = CudaStructures.ofSources();
    assertThat(CudaConcatenateKernels.BitsArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("ConcatenateBitsArguments").fields());
    assertThat(CudaConcatenateKernels.OffsetsArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("ConcatenateOffsetsArguments").fields());
  }
}
