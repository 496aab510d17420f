// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.device.PtxAssembler;
import io.millrace.expression.Expressions;
import io.millrace.expression.function.sample.RowSample;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.RowHash;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RowSampleTest {
  private static final Schema IDS = Schema.of(Field.of("id", DataType.INT64));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private List<List<Object>> sample(Table table, double fraction, long seed) {
    Schema schema = table.schema();
    Calc identity =
        Calc.of(
            schema,
            Optional.empty(),
            schema.names().stream().map(Expressions::col).toList(),
            ResolutionContext.DEFAULT);
    Calc sample =
        Calc.ofResolved(
            schema,
            Optional.of(RowSample.condition(schema, fraction, seed)),
            schema,
            identity.projections(),
            ResolutionContext.DEFAULT);
    assertThat(sample.hostReasons()).isEmpty();
    try (Table chosen =
        device.assertLaunches(() -> sample.apply(table, device.stream(), device.memory()))) {
      return device.rows(chosen);
    }
  }

  private List<List<Object>> sampleIds(List<Long> ids, double fraction, long seed) {
    try (Table table =
        new TableBuilder().column(Field.of("id", DataType.INT64), ids).build(device)) {
      return sample(table, fraction, seed);
    }
  }

  @Test
  void aboutTheFractionIsChosen() {
    List<Long> ids = LongStream.range(0, 20_000).boxed().toList();
    assertThat(sampleIds(ids, 0.25, 7)).hasSizeBetween(4_700, 5_300);
    assertThat(sampleIds(ids, 0, 7)).isEmpty();
    assertThat(sampleIds(ids, 1, 7)).hasSize(20_000);
    assertThat(sampleIds(ids, 0.25, 7)).isNotEqualTo(sampleIds(ids, 0.25, 8));
  }

  @Test
  void theSameRowsAreChosenInAnyOrder() {
    List<Long> ids = new ArrayList<>(LongStream.range(0, 5_000).boxed().toList());
    List<List<Object>> chosen = sampleIds(ids, 0.5, 7);
    Collections.shuffle(ids, random.random());
    assertThat(new HashSet<>(sampleIds(ids, 0.5, 7))).isEqualTo(new HashSet<>(chosen));
  }

  @Test
  void columnsOfAllTypesCount() {
    Schema schema = DataTypes.schema(DataTypes.all());
    try (Table table =
        new RandomTables(random.random(), 0.3).generateSliced(schema, 2_000, device)) {
      List<List<Object>> chosen = sample(table, 0.5, 11);
      assertThat(chosen).hasSizeBetween(850, 1_150);
      assertThat(device.rows(table)).containsAll(chosen);
    }
  }

  @Test
  void theGeneratedKernelAssembles() {
    TypedExpression condition = RowSample.condition(DataTypes.schema(DataTypes.all()), 0.5, 11);
    CalcProgram program = new CalcKernels(condition, List.of(condition), List.of()).program(true);
    assertThat(PtxAssembler.errorsForOneArchitecture(program.ptx())).isEmpty();
  }

  @Test
  void nullsAndTextAreHashedByContent() {
    Schema schema = Schema.of(Field.of("name", DataType.STRING));
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      rows.add(Collections.singletonList(i % 5 == 0 ? null : "name of " + i % 40));
    }
    try (Table table = TableBuilder.ofRows(schema, rows).build(device)) {
      List<List<Object>> chosen = sample(table, 0.5, 3);
      assertThat(chosen)
          .isEqualTo(rows.stream().filter(new HashSet<>(chosen)::contains).toList())
          .isNotEmpty()
          .hasSizeLessThan(1_000);
    }
  }

  @Test
  void fractionsOutsideZeroToOneAreRefused() {
    assertThatThrownBy(() -> RowSample.condition(IDS, 1.5, 1))
        .hasMessage("expected a fraction from 0 to 1, got 1.5");
    assertThatThrownBy(() -> RowSample.condition(IDS, Double.NaN, 1))
        .hasMessage("expected a fraction from 0 to 1, got NaN");
    assertThatThrownBy(
            () ->
                RowSample.condition(
                    Schema.of(Field.of("tags", DataType.list(DataType.INT32))), 0.5, 1))
        .hasMessage("there is no column to choose rows by");
  }

  @Test
  void theLastWordOfATextIsPaddedWithZeros() {
    long address = HostMemory.allocate(64);
    try {
      byte[] bytes = new byte[64];
      random.random().nextBytes(bytes);
      HostMemory.copyFromArray(address, bytes, 0, bytes.length);
      for (int length = 1; length < 40; length++) {
        long word = 0;
        for (int i = length / Long.BYTES * Long.BYTES; i < length; i++) {
          word |= (bytes[i] & 0xffL) << (i % Long.BYTES * Byte.SIZE);
        }
        if (length % Long.BYTES != 0) {
          assertThat(RowHash.lastWord(address, length)).as("%d", length).isEqualTo(word);
        }
      }
    } finally {
      HostMemory.free(address);
    }
  }
}
