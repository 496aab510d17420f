// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.memory.resource.FailingResourceAdaptor.FailureCondition;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.batching.BatchingOperator;
import io.millrace.operators.batching.UnbatchingOperator;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.InjectedFailures;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.operators.transfer.DownloadQueue;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each operator emits the same when allocations fail, and emits outside of its attempts. */
@ExtendWith(NothingHeldExtension.class)
class OperatorRetryTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("id", DataType.INT64),
          Field.of("name", DataType.STRING),
          Field.of("count", DataType.INT32));
  private static final CalcPlan CALC =
      CalcPlan.of(SCHEMA, ExpressionSettings.DEFAULT)
          .filter(col("id").ge(10L))
          .select(
              List.of(
                  col("count").cast(DataType.INT64).as("wide"),
                  col("id").cast(DataType.INT32).as("narrow"),
                  col("name")));
  private static final int ROWS = 2_000;
  private static final int MAX_FAILURES = 3;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  /** Runs one operator over some rows and a watermark, and gives what it emits. */
  private enum Program {
    BATCHING {
      @Override
      List<Object> run(OperatorRetryTest test) throws Exception {
        return test.runBatching();
      }
    },
    UNBATCHING {
      @Override
      List<Object> run(OperatorRetryTest test) throws Exception {
        return test.runUnbatching();
      }
    },
    CALC_ROWS {
      @Override
      List<Object> run(OperatorRetryTest test) throws Exception {
        return test.runCalc();
      }
    },
    COALESCE {
      @Override
      List<Object> run(OperatorRetryTest test) throws Exception {
        return test.runCoalesce();
      }
    },
    SPLIT_BY_SUBTASK {
      @Override
      List<Object> run(OperatorRetryTest test) {
        return test.runSplitter(3, false);
      }
    },
    SPLIT_BY_KEY_GROUP {
      @Override
      List<Object> run(OperatorRetryTest test) {
        return test.runSplitter(2, true);
      }
    },
    SPLIT_WHOLE {
      @Override
      List<Object> run(OperatorRetryTest test) {
        return test.runSplitter(1, false);
      }
    };

    abstract List<Object> run(OperatorRetryTest test) throws Exception;
  }

  private static List<Object> row(int number) {
    return Arrays.asList(
        (long) number, number % 7 == 0 ? null : "n" + number % 10, number % 5 == 0 ? null : number);
  }

  private static List<List<Object>> rows(int from, int to) {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = from; i < to; i++) {
      rows.add(row(i));
    }
    return rows;
  }

  private Object read(StreamRecord<ColumnBatch> element) {
    assertThat(InjectedFailures.holdsPermit()).isFalse();
    return device.rows(element.getValue().table());
  }

  private List<Object> runBatching() throws Exception {
    RecordingOutput output = new RecordingOutput(this::read);
    OneInputStreamOperatorTestHarness<RowData, ColumnBatch> harness =
        new OneInputStreamOperatorTestHarness<>(
            BatchingOperator.factory(
                SCHEMA, RowDataAppender::new, BatchOptions.DEFAULT.withRows(800, 800)));
    try {
      harness.setOutputCreator(serializer -> output);
      harness.open();
      for (List<Object> row : rows(0, ROWS)) {
        StringData name = row.get(1) == null ? null : StringData.fromString((String) row.get(1));
        harness.processElement(new StreamRecord<>(GenericRowData.of(row.get(0), name, row.get(2))));
      }
      harness.processWatermark(new Watermark(1));
    } finally {
      harness.close();
    }
    return output.elements();
  }

  private List<Object> runUnbatching() throws Exception {
    RowDataSerializer serializer = new RowDataSerializer(SchemaConverter.toRowType(SCHEMA));
    OneInputStreamOperatorTestHarness<ColumnBatch, RowData> harness =
        new OneInputStreamOperatorTestHarness<>(
            UnbatchingOperator.factory(SCHEMA, RowDataDecoder.factory(), Optional.empty()));
    try {
      harness.setup(serializer);
      harness.open();
      process(harness, TableBuilder.ofRows(SCHEMA, rows(0, ROWS)).build(device));
      harness.prepareSnapshotPreBarrier(1);
      List<Object> emitted = new ArrayList<>();
      for (RowData row : harness.extractOutputValues()) {
        emitted.add(serializer.toBinaryRow(row).copy());
      }
      return emitted;
    } finally {
      harness.close();
    }
  }

  private List<Object> runCalc() throws Exception {
    return run(
        TransformOperator.factory(CALC.transforms()),
        List.of(TableBuilder.ofRows(SCHEMA, rows(0, ROWS)).build(device)));
  }

  private List<Object> runCoalesce() throws Exception {
    List<Table> parts = new ArrayList<>();
    for (int i = 0; i < ROWS; i += 500) {
      parts.add(TableBuilder.ofRows(SCHEMA, rows(i, i + 500)).buildOnHost(device));
    }
    return run(CoalesceOperator.factory(CoalesceOptions.DEFAULT), parts);
  }

  private List<Object> run(
      OneInputStreamOperatorFactory<ColumnBatch, ColumnBatch> factory, List<Table> tables)
      throws Exception {
    RecordingOutput output = new RecordingOutput(this::read);
    OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness =
        new OneInputStreamOperatorTestHarness<>(
            factory, new ColumnBatchSerializer(SCHEMA, BodyCodec.RAW));
    try {
      harness.setOutputCreator(serializer -> output);
      harness.setup(new ColumnBatchSerializer(SCHEMA, BodyCodec.RAW));
      harness.open();
      for (Table table : tables) {
        process(harness, table);
      }
      harness.processWatermark(new Watermark(1));
    } finally {
      harness.close();
    }
    return output.elements();
  }

  // The harness's operator is not the head of a chain: the sender releases.
  private static void process(
      OneInputStreamOperatorTestHarness<ColumnBatch, ?> harness, Table table) throws Exception {
    ColumnBatch batch = new ColumnBatch(table);
    try {
      harness.processElement(new StreamRecord<>(batch));
    } finally {
      batch.release();
    }
  }

  private List<Object> runSplitter(int subtasks, boolean perKeyGroup) {
    List<Object> parts = new ArrayList<>();
    ColumnBatch batch = new ColumnBatch(TableBuilder.ofRows(SCHEMA, rows(0, ROWS)).build(device));
    try (DeviceContext context = DeviceContext.open(device.device());
        DownloadQueue downloads = new DownloadQueue(context, 2)) {
      KeyGroupSplitter.factory(List.of(0), HashFunction.FLINK_JAVA, perKeyGroup, 1 << 20)
          .create(context, new ExchangeTarget(subtasks, 8))
          .split(
              batch,
              downloads,
              (part, bytes) -> {
                assertThat(InjectedFailures.holdsPermit()).isFalse();
                parts.add(List.of(part.target(), part.keyGroup(), device.rows(part.table())));
                part.release();
              });
      downloads.drain();
    } finally {
      batch.release();
    }
    return parts;
  }

  private List<Object> runWith(Program program, FailureCondition condition, List<Long> failures)
      throws Exception {
    try (InjectedFailures injected = new InjectedFailures(condition)) {
      List<Object> emitted = program.run(this);
      failures.add(injected.failures());
      return emitted;
    }
  }

  @ParameterizedTest
  @EnumSource(Program.class)
  void theSameIsEmittedWhicheverAllocationsFail(Program program) throws Exception {
    List<Object> expected = program.run(this);
    assertThat(expected).isNotEmpty();
    List<Long> failures = new ArrayList<>();
    for (int burst = 1; burst < MAX_FAILURES; burst++) {
      long first = 0;
      do {
        long from = ++first;
        long to = from + burst;
        assertThat(runWith(program, (number, bytes) -> number >= from && number < to, failures))
            .as("allocations %s to %s failed", from, to - 1)
            .isEqualTo(expected);
      } while (failures.get(failures.size() - 1) > 0);
    }
    // On the host, tables are their own host copies: these two allocate nothing.
    boolean copies = program != Program.UNBATCHING && program != Program.SPLIT_WHOLE;
    assertThat(failures.size() > MAX_FAILURES).isEqualTo(copies || device.isCuda());
  }

  @ParameterizedTest
  @EnumSource(Program.class)
  void batchesThatDoNotFitAreSentInPartsInTheSameOrder(Program program) throws Exception {
    List<Object> expected = program.run(this);
    List<Object> emitted = runWith(program, (number, bytes) -> bytes > 8_000, new ArrayList<>());
    assertThat(perTarget(emitted)).isEqualTo(perTarget(expected));
    if (program == Program.CALC_ROWS || program == Program.BATCHING) {
      assertThat(emitted.size()).isGreaterThan(expected.size());
    }
  }

  /** All rows in order; for parts of an exchange, the rows of each target in order. */
  private static List<Object> perTarget(List<Object> emitted) {
    return emitted.stream()
        .flatMap(OperatorRetryTest::flatten)
        .sorted((a, b) -> Integer.compare(target(a), target(b)))
        .toList();
  }

  private static Stream<Object> flatten(Object element) {
    if (!(element instanceof List<?> list)) {
      return Stream.of(element);
    }
    if (list.get(0) instanceof Integer) {
      return ((List<?>) list.get(2))
          .stream().map(row -> List.of((Integer) list.get(0) + (Integer) list.get(1), row));
    }
    return list.stream().map(row -> row);
  }

  private static int target(Object row) {
    return row instanceof List<?> list && list.size() == 2 ? (Integer) list.get(0) : 0;
  }

  @ParameterizedTest
  @EnumSource(
      value = Program.class,
      names = {"UNBATCHING", "SPLIT_WHOLE", "COALESCE"},
      mode = EnumSource.Mode.EXCLUDE)
  void memoryThatNeverComesFailsTheOperatorAndLeavesNothing(Program program) {
    assertThatThrownBy(() -> runWith(program, (number, bytes) -> true, new ArrayList<>()))
        .isInstanceOf(GpuOutOfMemoryException.class)
        .hasMessageContaining("3 attempts");
    device.assertNothingHeld();
  }
}
