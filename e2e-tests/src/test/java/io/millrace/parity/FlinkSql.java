// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import io.millrace.column.Schema;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.parity.FlinkResult.FailedRow;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.api.config.TableConfigOptions;
import org.apache.flink.table.connector.Projection;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.utils.ProjectedRowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.utils.TypeConversions;

/**
 * Evaluates SQL expressions with stock Flink as it does at run time: its planner translates one
 * SELECT of all expressions over a stream, and the operators that it generates run over the rows
 * one by one. The planner does not see the rows, so it folds nothing of them.
 *
 * <p>A row at which the SELECT fails is evaluated again by each expression alone, so that a failure
 * belongs to one expression and one row.
 */
public final class FlinkSql {
  private static final int MAX_CODE_LENGTH = 100_000;

  private record Input(RowType type, List<RowData> rows) {}

  private final RowType rowType;
  private final StreamExecutionEnvironment environment;
  private final StreamTableEnvironment tables;

  /**
   * @param schema of the rows; expressions name its columns
   * @param sessionZone what {@code table.local-time-zone} is
   */
  public FlinkSql(Schema schema, ZoneId sessionZone) {
    this.rowType = SchemaConverter.toRowType(schema);
    this.environment = StreamExecutionEnvironment.getExecutionEnvironment(new Configuration());
    environment.setParallelism(1);
    this.tables = StreamTableEnvironment.create(environment, EnvironmentSettings.inStreamingMode());
    tables.getConfig().setLocalTimeZone(sessionZone);
    // Splitting generated methods into smaller ones takes longer than all else.
    tables.getConfig().set(TableConfigOptions.MAX_LENGTH_GENERATED_CODE, MAX_CODE_LENGTH);
  }

  /** The value of each of {@code expressions}, in Flink's SQL, for each of {@code rows}. */
  public List<FlinkResult> evaluate(List<RowData> rows, List<String> expressions) throws Exception {
    return evaluate(project(rows, expressions), expressions);
  }

  private List<FlinkResult> evaluate(Input input, List<String> expressions) throws Exception {
    try {
      return evaluateTogether(input, expressions);
    } catch (RuntimeException refusal) {
      if (expressions.size() == 1) {
        return List.of(new FlinkResult(expressions.get(0), null, List.of(), refusal));
      }
      int half = expressions.size() / 2;
      List<FlinkResult> results = new ArrayList<>(evaluate(input, expressions.subList(0, half)));
      results.addAll(evaluate(input, expressions.subList(half, expressions.size())));
      return results;
    }
  }

  private List<FlinkResult> evaluateTogether(Input input, List<String> expressions)
      throws Exception {
    List<RowData> rows = input.rows();
    Table selected = select(input, expressions);
    List<LogicalType> types = types(selected);
    List<List<Object>> columns =
        types.stream().<List<Object>>map(type -> new ArrayList<>(rows.size())).toList();
    List<Integer> failed = new ArrayList<>();
    try (GeneratedOperators operators = generate(selected)) {
      for (int row = 0; row < rows.size(); row++) {
        List<Object> values = evaluate(operators, rows.get(row), types);
        if (values.get(0) instanceof FailedRow) {
          failed.add(row);
        }
        for (int i = 0; i < types.size(); i++) {
          columns.get(i).add(values.get(i));
        }
      }
    }
    if (!failed.isEmpty() && expressions.size() > 1) {
      Input failedRows = new Input(input.type(), failed.stream().map(rows::get).toList());
      for (int i = 0; i < expressions.size(); i++) {
        FlinkResult alone = evaluateTogether(failedRows, List.of(expressions.get(i))).get(0);
        for (int j = 0; j < failed.size(); j++) {
          columns.get(i).set(failed.get(j), alone.values().get(j));
        }
      }
    }
    return IntStream.range(0, expressions.size())
        .mapToObj(i -> new FlinkResult(expressions.get(i), types.get(i), columns.get(i), null))
        .toList();
  }

  private static List<Object> evaluate(
      GeneratedOperators operators, RowData row, List<LogicalType> types) {
    RowData result;
    try {
      result = operators.process(row);
    } catch (Exception | Error e) {
      return Collections.nCopies(types.size(), new FailedRow(e));
    }
    return FlinkValues.of(result, types);
  }

  /** The columns that the expressions name: a planner's time grows with all it is given. */
  private Input project(List<RowData> rows, List<String> expressions) {
    String text = String.join(" ", expressions);
    int[] columns =
        IntStream.range(0, rowType.getFieldCount())
            .filter(i -> text.matches("(?s).*\\b" + rowType.getFieldNames().get(i) + "\\b.*"))
            .toArray();
    if (columns.length == 0) {
      return new Input(rowType, rows);
    }
    RowType type = (RowType) Projection.of(columns).project(rowType);
    ProjectedRowData projected = ProjectedRowData.from(columns);
    RowDataSerializer serializer = new RowDataSerializer(type);
    return new Input(
        type,
        rows.stream()
            .<RowData>map(row -> serializer.toBinaryRow(projected.replaceRow(row)).copy())
            .toList());
  }

  private Table select(Input input, List<String> expressions) {
    String items =
        IntStream.range(0, expressions.size())
            .mapToObj(i -> expressions.get(i) + " AS e" + i)
            .collect(Collectors.joining(", "));
    DataStream<RowData> stream =
        environment.fromData(input.rows(), InternalTypeInfo.of(input.type()));
    return tables.sqlQuery("SELECT " + items + " FROM " + tables.fromDataStream(stream));
  }

  private static List<LogicalType> types(Table table) {
    return table.getResolvedSchema().getColumnDataTypes().stream()
        .map(DataType::getLogicalType)
        .toList();
  }

  private GeneratedOperators generate(Table selected) throws Exception {
    return GeneratedOperators.of(toStream(selected).getTransformation());
  }

  /** As a stream of nullable columns, so that no constraint of a sink refuses a null. */
  private DataStream<RowData> toStream(Table selected) {
    LogicalType[] nullable =
        types(selected).stream().map(type -> type.copy(true)).toArray(LogicalType[]::new);
    DataType rows = TypeConversions.fromLogicalToDataType(RowType.of(nullable));
    return tables.toDataStream(selected, rows.bridgedTo(RowData.class));
  }

  /** As {@link #evaluate}, by a job on a cluster in this process. */
  List<List<Object>> runJob(List<RowData> rows, List<String> expressions) throws Exception {
    Table selected = select(project(rows, expressions), expressions);
    List<LogicalType> types = types(selected);
    return toStream(selected).executeAndCollect(rows.size()).stream()
        .map(row -> FlinkValues.of(row, types))
        .toList();
  }
}
