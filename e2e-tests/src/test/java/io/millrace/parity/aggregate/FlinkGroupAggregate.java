// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.aggregate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.IOUtils;

/**
 * The operator of Flink SQL behind a GROUP BY of the columns {@code k} and {@code x}, which are
 * INT, by {@code k}. Its state expires by a clock that a test sets.
 */
final class FlinkGroupAggregate implements AutoCloseable {
  private final KeyedOneInputStreamOperatorTestHarness<RowData, RowData, RowData> harness;
  private final List<RowData.FieldGetter> fields = new ArrayList<>();

  private FlinkGroupAggregate(OneInputTransformation<RowData, RowData> operator) throws Exception {
    harness = harness(operator);
    harness.setup(operator.getOutputType().createSerializer(new SerializerConfigImpl()));
    harness.open();
    RowType output = ((InternalTypeInfo<RowData>) operator.getOutputType()).toRowType();
    for (int i = 0; i < output.getFieldCount(); i++) {
      fields.add(RowData.createFieldGetter(output.getTypeAt(i), i));
    }
  }

  @SuppressWarnings("unchecked")
  private static KeyedOneInputStreamOperatorTestHarness<RowData, RowData, RowData> harness(
      OneInputTransformation<RowData, RowData> operator) throws Exception {
    return new KeyedOneInputStreamOperatorTestHarness<>(
        operator.getOperatorFactory(),
        (KeySelector<RowData, RowData>) operator.getStateKeySelector(),
        (TypeInformation<RowData>) operator.getStateKeyType());
  }

  /**
   * An operator that is open.
   *
   * @param aggregates of SQL, separated by commas
   */
  static FlinkGroupAggregate open(String aggregates, boolean isChangelog, Duration stateTtl)
      throws Exception {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(1);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.getConfig().setIdleStateRetention(stateTtl);
    DataStream<Row> rows =
        environment.fromData(
            Types.ROW_NAMED(new String[] {"k", "x"}, Types.INT, Types.INT), Row.of(1, 1));
    Table table = isChangelog ? tables.fromChangelogStream(rows) : tables.fromDataStream(rows);
    tables.createTemporaryView("t", table);
    Table result = tables.sqlQuery("SELECT k, " + aggregates + " FROM t GROUP BY k");
    return new FlinkGroupAggregate(keyed(tables.toChangelogStream(result).getTransformation()));
  }

  @SuppressWarnings("unchecked")
  private static OneInputTransformation<RowData, RowData> keyed(Transformation<?> last) {
    Transformation<?> next = last;
    while (!(next instanceof OneInputTransformation<?, ?> operator)
        || operator.getStateKeySelector() == null) {
      next = next.getInputs().get(0);
    }
    return (OneInputTransformation<RowData, RowData>) next;
  }

  /** Sets the clock of the state, in milliseconds. */
  void setTime(long time) {
    harness.setStateTtlProcessingTime(time);
  }

  /** The changes that a row makes, such as {@code +I[1, 20]}. */
  List<String> changes(RowKind kind, int key, Integer value) throws Exception {
    harness.getOutput().clear();
    harness.processElement(new StreamRecord<>(GenericRowData.ofKind(kind, key, value)));
    return harness.extractOutputValues().stream().map(this::text).toList();
  }

  private String text(RowData row) {
    List<Object> values = new ArrayList<>();
    fields.forEach(field -> values.add(field.getFieldOrNull(row)));
    return row.getRowKind().shortString() + values;
  }

  @Override
  public void close() {
    IOUtils.closeQuietly(harness);
  }
}
