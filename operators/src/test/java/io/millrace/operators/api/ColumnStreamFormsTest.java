// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RowCollector;
import io.millrace.operators.wire.ArrowTypeInformation;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The forms of rows that streams come from and go to. */
@ExtendWith(NothingHeldExtension.class)
class ColumnStreamFormsTest {
  private static final Schema IDS = Schema.of(new Field("id", DataType.INT64, false));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private final StreamExecutionEnvironment environment = flink.environment(1);

  /** A row as users write them. */
  public static final class Sale {
    public long id;
    public BigDecimal amount;
    public LocalDateTime time;
    private String note;

    public Sale() {}

    Sale(long id, String amount, LocalDateTime time, String note) {
      this.id = id;
      this.amount = new BigDecimal(amount);
      this.time = time;
      this.note = note;
    }

    public String getNote() {
      return note;
    }

    public void setNote(String note) {
      this.note = note;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Sale that
          && id == that.id
          && Objects.equals(amount, that.amount)
          && Objects.equals(time, that.time)
          && Objects.equals(note, that.note);
    }

    @Override
    public int hashCode() {
      return Objects.hash(id, amount, time, note);
    }
  }

  private static final Schema SALES =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("amount", DataType.decimal(10, 2)),
          Field.of("time", DataType.timestamp(6)),
          Field.of("note", DataType.STRING));

  private static Sale sale(long id, String amount, String note) {
    return new Sale(id, amount, LocalDateTime.of(2026, 3, 1, 10, 20, 30, 123_456_000), note);
  }

  @OutOfMemoryTest(onCluster = true)
  void pojosComeBackAsTheyWere() throws Exception {
    RowCollector<Sale> collector = new RowCollector<>();
    DataStream<Sale> sales =
        environment.fromData(sale(1, "10.50", "a"), sale(2, "20.00", null), sale(3, "3.25", "c"));
    collector.collect(
        ColumnStream.from(sales, SALES).batch().filter(col("id").ge(2L)).toPojo(Sale.class),
        sale -> sale);
    flink.run(environment);
    assertThat(collector.rows()).containsExactly(sale(2, "20.00", null), sale(3, "3.25", "c"));
  }

  @Test
  void aClassThatDoesNotFitIsRefusedWhenTheLineIsWritten() {
    DataStream<Sale> sales = environment.fromData(sale(1, "1.00", "a"));
    assertThatThrownBy(
            () ->
                ColumnStream.from(
                    sales,
                    Schema.of(Field.of("id", DataType.INT64), Field.of("nte", DataType.STRING))))
        .hasMessageStartingWith("there is no column 'nte'; did you mean 'note'?");
    assertThatThrownBy(() -> ColumnStream.from(sales, Schema.of(Field.of("note", DataType.INT32))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("note");
    ColumnStream stream = ColumnStream.from(sales, SALES).batch();
    assertThatThrownBy(() -> stream.withColumn("amount", col("note")).toPojo(Sale.class))
        .hasMessageContaining("amount");
    assertThatThrownBy(() -> stream.toPojo(Object.class))
        .hasMessageContaining("expected a POJO class");
    assertThatThrownBy(() -> ColumnStream.from(environment.fromData(1L), IDS))
        .hasMessageContaining("expected a stream of RowData, Row or a POJO, got Long");
  }

  @OutOfMemoryTest(onCluster = true)
  void batchesGoThroughArrowAndBack() throws Exception {
    DataStream<RowData> rows =
        environment
            .fromSequence(1, 10)
            .map(id -> (RowData) GenericRowData.of(id))
            .returns(InternalTypeInfo.of(SchemaConverter.toRowType(IDS)));
    DataStream<VectorSchemaRoot> roots =
        ColumnStream.from(rows, IDS)
            .batch(BatchOptions.DEFAULT.withRows(4, 4))
            .filter(col("id").ge(3L))
            .toArrow();
    RowCollector<Long> sums = new RowCollector<>();
    sums.collect(roots, ColumnStreamFormsTest::sum);
    RowCollector<Long> collector = new RowCollector<>();
    collector.collect(
        ColumnStream.fromArrow(roots, IDS).filter(col("id").le(5L)).toRowData(),
        row -> row.getLong(0));
    flink.run(environment);
    assertThat(collector.rows()).containsExactly(3L, 4L, 5L);
    assertThat(sums.rows().stream().mapToLong(sum -> sum).sum()).isEqualTo(52);
  }

  @Test
  void rowsOfAnotherTypeThanTheirColumnsAreRefused() {
    DataStream<RowData> rows =
        environment
            .fromData(1)
            .map(id -> (RowData) GenericRowData.of(id))
            .returns(InternalTypeInfo.ofFields(new IntType()));
    assertThatThrownBy(() -> ColumnStream.from(rows, IDS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("column 'id' is BIGINT NOT NULL, but the stream's rows have INT");
  }

  /** Emits the timestamps of rows. */
  private static final class Timestamps<T> extends ProcessFunction<T, Long> {
    private static final long serialVersionUID = 1L;

    @Override
    public void processElement(T row, Context context, Collector<Long> out) {
      out.collect(context.timestamp());
    }
  }

  @Test
  void rowsHaveTheTimesOfAColumn() throws Exception {
    DataStream<Sale> sales =
        environment.fromData(sale(1_000, "1.00", "a"), sale(9_000, "1.00", "b"));
    ColumnStream stream =
        ColumnStream.from(sales, SALES).batch(BatchOptions.DEFAULT.withRows(2, 2));
    List<RowCollector<Long>> collectors =
        Stream.generate(() -> new RowCollector<Long>()).limit(4).toList();
    collectors.get(0).collect(stream.toRows("id").process(new Timestamps<>()), time -> time);
    collectors.get(1).collect(stream.toRowData("id").process(new Timestamps<>()), time -> time);
    collectors
        .get(2)
        .collect(stream.toPojo(Sale.class, "id").process(new Timestamps<>()), time -> time);
    collectors
        .get(3)
        .collect(
            stream.select(col("time")).toRows("time").process(new Timestamps<>()), time -> time);
    flink.run(environment);
    assertThat(collectors.subList(0, 3))
        .allSatisfy(collector -> assertThat(collector.rows()).containsExactly(1_000L, 9_000L));
    long millis = sale(1, "1.00", "").time.toInstant(ZoneOffset.UTC).toEpochMilli();
    assertThat(collectors.get(3).rows()).containsExactly(millis, millis);
  }

  @Test
  void aColumnWithoutTimesIsRefusedWhenTheLineIsWritten() {
    ColumnStream stream =
        ColumnStream.from(environment.fromData(sale(1, "1.00", "a")), SALES).batch();
    assertThatThrownBy(() -> stream.toRows("tme"))
        .hasMessageStartingWith("there is no column 'tme'; did you mean 'time'?");
    assertThatThrownBy(() -> stream.toPojo(Sale.class, "note"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected TIMESTAMP or BIGINT for time column 'note', got STRING");
    assertThatThrownBy(() -> ColumnStream.fromBatches(stream.toBatches()).toRowData("tme"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("there is no column 'tme'");
  }

  private static long sum(VectorSchemaRoot root) {
    BigIntVector ids = (BigIntVector) root.getVector("id");
    long sum = 0;
    for (int i = 0; i < root.getRowCount(); i++) {
      sum += ids.get(i);
    }
    return sum;
  }

  @Test
  void rootsOfAnotherTypeInformationAreRefused() {
    DataStream<VectorSchemaRoot> roots =
        environment
            .fromData(1L)
            .map(id -> (VectorSchemaRoot) null)
            .returns(Types.GENERIC(VectorSchemaRoot.class));
    assertThatThrownBy(() -> ColumnStream.fromArrow(roots, IDS))
        .hasMessageContaining("expected a stream of ArrowTypeInformation, got GenericType");
    assertThat(ArrowTypeInformation.INSTANCE.getTypeClass()).isEqualTo(VectorSchemaRoot.class);
  }

  @Test
  void aRootWithOtherColumnsFailsTheJob() throws Exception {
    DataStream<RowData> rows =
        environment
            .fromSequence(1, 1)
            .map(id -> (RowData) GenericRowData.of(id))
            .returns(InternalTypeInfo.of(SchemaConverter.toRowType(IDS)));
    RowCollector<Long> collector = new RowCollector<>();
    collector.collect(
        ColumnStream.fromArrow(
                ColumnStream.from(rows, IDS).batch().toArrow(),
                Schema.of(new Field("key", DataType.INT64, false)))
            .toRowData(),
        row -> row.getLong(0));
    assertThatThrownBy(() -> flink.run(environment))
        .hasStackTraceContaining("expected a root with the columns (key BIGINT");
    assertThat(List.copyOf(collector.rows())).isEmpty();
  }
}
