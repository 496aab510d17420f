// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.Schema;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.operators.process.HostKeyedBatch;
import io.millrace.operators.process.HostKeyedFunction;
import io.millrace.operators.process.ListStateSchema;
import io.millrace.operators.process.MapStateSchema;
import io.millrace.operators.process.ProcessOperator;
import io.millrace.operators.process.ProcessPlan;
import io.millrace.operators.state.KeyedOperatorHarness;
import io.millrace.operators.state.StateTtl;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Values, maps and lists whose state expires, beside timers: against a function of Flink. */
class ProcessTtlParityTest {
  private static final Duration TTL = Duration.ofMillis(100);
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT64, false),
          new Field("x", DataType.INT64, false),
          new Field("time", DataType.INT64, false));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** Says what a key has before each row and at each timer, and adds the row. */
  private static final class Flinks extends KeyedProcessFunction<Long, Row, String> {
    private static final long serialVersionUID = 1L;

    private transient ValueState<Long> last;
    private transient MapState<Long, Long> counts;
    private transient ListState<Long> values;

    @Override
    public void open(OpenContext context) {
      StateTtlConfig ttl = StateTtlConfig.newBuilder(TTL).build();
      ValueStateDescriptor<Long> lastState = new ValueStateDescriptor<>("last", Types.LONG);
      lastState.enableTimeToLive(ttl);
      last = getRuntimeContext().getState(lastState);
      MapStateDescriptor<Long, Long> countState =
          new MapStateDescriptor<>("counts", Types.LONG, Types.LONG);
      countState.enableTimeToLive(ttl);
      counts = getRuntimeContext().getMapState(countState);
      ListStateDescriptor<Long> valueState = new ListStateDescriptor<>("values", Types.LONG);
      valueState.enableTimeToLive(ttl);
      values = getRuntimeContext().getListState(valueState);
    }

    private String text(Object what) throws Exception {
      List<Long> elements = new ArrayList<>();
      values.get().forEach(elements::add);
      return what + " of " + last.value() + " and " + elements;
    }

    @Override
    public void processElement(Row row, Context context, Collector<String> output)
        throws Exception {
      long value = row.getFieldAs(1);
      Long count = counts.get(value);
      output.collect(context.getCurrentKey() + ": " + text(count));
      counts.put(value, count == null ? 1 : count + 1);
      values.add(value);
      last.update(value);
      context.timerService().registerEventTimeTimer(row.getFieldAs(2));
    }

    @Override
    public void onTimer(long time, OnTimerContext context, Collector<String> output)
        throws Exception {
      output.collect(context.getCurrentKey() + ": " + text("timer " + time));
    }
  }

  /** The same as a function of Millrace. */
  private static final class Millraces extends HostKeyedFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema outputSchema(Schema input) {
      return Schema.of(new Field("text", DataType.STRING, false));
    }

    @Override
    public Schema stateSchema(Schema input) {
      return Schema.of(Field.of("last", DataType.INT64));
    }

    @Override
    public List<MapStateSchema> mapStates(Schema input) {
      return List.of(
          new MapStateSchema(
              "counts",
              Schema.of(Field.of("x", DataType.INT64)),
              Schema.of(Field.of("count", DataType.INT64))));
    }

    @Override
    public List<ListStateSchema> listStates(Schema input) {
      return List.of(new ListStateSchema("values", Schema.of(Field.of("x", DataType.INT64))));
    }

    @Override
    public Duration timerSlices() {
      return Duration.ofMillis(40);
    }

    private static void emit(HostKeyedBatch batch, int key, Object what) {
      ColumnReader last = batch.state("last");
      List<Object> elements =
          batch.list("values").get(key).stream().map(element -> element.getField(0)).toList();
      String text =
          batch.key("k").getLong(key)
              + ": "
              + what
              + " of "
              + (last.isNull(key) ? null : last.getLong(key))
              + " and "
              + elements;
      ((VariableWidthColumnBuilder) batch.output().column(0))
          .appendBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    // Batches have one row.
    @Override
    protected void process(HostKeyedBatch batch) {
      Row value = Row.of(batch.column("x").getLong(0));
      Row count = batch.map("counts").get(0, value);
      emit(batch, 0, count == null ? null : count.getField(0));
      batch.map("counts").put(0, value, Row.of(count == null ? 1 : count.<Long>getFieldAs(0) + 1));
      batch.list("values").add(0, value);
      ((FixedWidthColumnBuilder) batch.newState().column(0)).appendLong(value.getFieldAs(0));
      batch.registerEventTimeTimer(0, batch.column("time").getLong(0));
    }

    @Override
    protected void onTimer(HostKeyedBatch timers, TimeDomain domain) {
      for (int row = 0; row < timers.rowCount(); row++) {
        emit(timers, timers.keyOf(row), "timer " + timers.column(TIMER).getLong(row));
      }
    }
  }

  private static final class Harness extends KeyedOperatorHarness {
    Harness(DeviceExtension device, ProcessPlan plan) throws Exception {
      super(
          device,
          ROWS,
          plan.outputSchema(),
          ProcessOperator.factory(plan),
          environment(0, 1, Map.of()));
      start(null);
    }

    List<String> texts() {
      return takeRows().stream().map(row -> row.get(0).toString()).sorted().toList();
    }
  }

  private static List<String> texts(
      KeyedOneInputStreamOperatorTestHarness<Long, Row, String> flink) {
    List<String> texts = flink.extractOutputValues().stream().sorted().toList();
    flink.getOutput().clear();
    return texts;
  }

  @Test
  void stateThatHasExpiredIsThatOfFlink() throws Exception {
    Random numbers = random.random();
    ProcessPlan plan =
        new ProcessPlan(ROWS, List.of("k"), new Millraces(), StateTtl.ofProcessingTime(TTL));
    int forgotten = 0;
    KeyedOneInputStreamOperatorTestHarness<Long, Row, String> flink =
        new KeyedOneInputStreamOperatorTestHarness<>(
            new KeyedProcessOperator<>(new Flinks()), row -> row.getFieldAs(0), Types.LONG);
    flink.open();
    try (Harness millrace = new Harness(device, plan)) {
      long time = 0;
      for (int i = 0; i < 2_000; i++) {
        time += numbers.nextInt(30);
        flink.setStateTtlProcessingTime(time);
        millrace.setProcessingTime(time);
        if (numbers.nextInt(4) == 0) {
          flink.processWatermark(new Watermark(time));
          millrace.watermark(time);
        } else {
          Row row =
              Row.of(
                  (long) numbers.nextInt(4),
                  (long) numbers.nextInt(5),
                  time + numbers.nextInt(200) - 20);
          flink.processElement(new StreamRecord<>(row));
          millrace.send(0, List.of(List.of(row.getField(0), row.getField(1), row.getField(2))));
        }
        List<String> expected = texts(flink);
        assertThat(millrace.texts())
            .as("step %d at %d with seed %d", i, time, random.seed())
            .isEqualTo(expected);
        forgotten += (int) expected.stream().filter(text -> text.contains("of null")).count();
      }
    } finally {
      flink.close();
    }
    assertThat(forgotten).as("rows and timers of keys that were forgotten").isGreaterThan(100);
  }
}
