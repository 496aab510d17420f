package io.millrace.jobs;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.files.InputFiles;
import io.millrace.connectors.nexmark.NexmarkSchemas;
import io.millrace.expression.Expression;
import io.millrace.expression.ExpressionException;
import io.millrace.expression.ExpressionSettings;
import io.millrace.jobs.EtlOptions.Format;
import io.millrace.jobs.EtlOptions.SinkType;
import io.millrace.jobs.EtlOptions.SourceType;
import io.millrace.kernel.HashFunction;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.transform.CalcPlan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;

/**
 * Settings that fit together: what the job reads, selects, partitions by and writes.
 *
 * @param sourceSchema columns that the source gives
 * @param calc from the source's rows to the sink's
 * @param keys columns of the selection that rows are partitioned by
 */
record EtlPlan(Configuration configuration, Schema sourceSchema, CalcPlan calc, List<String> keys) {

  /**
   * Checks the settings against each other and against the files.
   *
   * @throws UsageException saying the first thing that does not fit; nothing has been written
   */
  static EtlPlan of(Configuration configuration) {
    Schema source = sourceSchema(configuration);
    CalcPlan calc = calc(configuration, source);
    List<String> keys =
        configuration
            .getOptional(EtlOptions.PARTITION_BY)
            .map(EtlPlan::split)
            .orElseGet(() -> List.of(calc.outputSchema().field(0).name()));
    checkKeys(calc.outputSchema(), keys);
    return new EtlPlan(configuration, source, calc, keys);
  }

  /** That of a DataStream job where it takes the key, else that of an SQL job. */
  HashFunction keyHash() {
    Schema schema = calc.outputSchema();
    boolean java =
        keys.size() == 1
            && HashFunction.FLINK_JAVA.supports(schema.type(schema.indexOf(keys.get(0))));
    return java ? HashFunction.FLINK_JAVA : HashFunction.FLINK_BINARY_ROW;
  }

  SourceType sourceType() {
    return configuration.get(EtlOptions.SOURCE_TYPE);
  }

  SinkType sinkType() {
    return configuration.get(EtlOptions.SINK_TYPE);
  }

  Format sinkFormat() {
    return configuration.get(EtlOptions.SINK_FORMAT);
  }

  String sinkPath() {
    return configuration.get(EtlOptions.SINK_PATH);
  }

  String badRowsPath() {
    return configuration.getOptional(EtlOptions.BAD_ROWS_PATH).orElse(sinkPath() + "-bad");
  }

  private static Schema sourceSchema(Configuration configuration) {
    if (configuration.get(EtlOptions.SOURCE_TYPE) == SourceType.NEXMARK) {
      return NexmarkSchemas.BID;
    }
    String path = required(configuration.get(EtlOptions.SOURCE_PATH), EtlOptions.SOURCE_PATH.key());
    if (configuration.get(EtlOptions.SOURCE_FORMAT) == Format.ARROW) {
      throw new UsageException("source.format must be json or csv, but is 'arrow'");
    }
    try {
      InputFiles.resolve(List.of(path));
    } catch (IOException e) {
      throw new UsageException(e.getMessage());
    }
    return parseSchema(
        required(configuration.get(EtlOptions.SOURCE_SCHEMA), EtlOptions.SOURCE_SCHEMA.key()));
  }

  private static String required(String value, String key) {
    if (value == null || value.isBlank()) {
      throw new UsageException("reading files needs " + key);
    }
    return value;
  }

  private static Schema parseSchema(String text) {
    try {
      return new Schema(split(text).stream().map(EtlPlan::parseField).toList());
    } catch (IllegalArgumentException e) {
      throw new UsageException(EtlOptions.SOURCE_SCHEMA.key() + ": " + e.getMessage());
    }
  }

  private static Field parseField(String text) {
    String[] nameAndType = text.split("\\s+", 2);
    if (nameAndType.length < 2) {
      throw new UsageException("cannot read '" + text + "' as a column; write a name and a type");
    }
    return Field.of(nameAndType[0].replace("`", ""), parseType(nameAndType[1]));
  }

  /**
   * The data type that an SQL type's text means.
   *
   * @throws UsageException if it is none
   */
  static DataType parseType(String text) {
    // Flink upper-cases keywords by the default locale, in which i may not become I.
    String sql = text.contains("<") ? text : text.toUpperCase(Locale.ROOT);
    try {
      LogicalType type = LogicalTypeParser.parse(sql, EtlPlan.class.getClassLoader());
      return SchemaConverter.toSchema(RowType.of(type)).type(0);
    } catch (ValidationException | IllegalArgumentException e) {
      throw new UsageException("'" + text + "' is no type that a column can have");
    }
  }

  private static CalcPlan calc(Configuration configuration, Schema source) {
    CalcPlan plan = CalcPlan.of(source, ExpressionSettings.DEFAULT);
    String where = configuration.get(EtlOptions.WHERE);
    String select = configuration.get(EtlOptions.SELECT);
    if (where != null) {
      Expression condition =
          SqlExpressions.parseCondition(EtlOptions.WHERE.key(), where, source, EtlPlan::parseType);
      plan = checked(EtlOptions.WHERE, plan::filter, condition);
    }
    if (select != null) {
      List<Expression> columns =
          SqlExpressions.parseSelectList(
              EtlOptions.SELECT.key(), select, source, EtlPlan::parseType);
      plan = checked(EtlOptions.SELECT, plan::select, columns);
    }
    return plan;
  }

  private static <T> CalcPlan checked(
      ConfigOption<?> option, Function<T, CalcPlan> step, T argument) {
    try {
      return step.apply(argument);
    } catch (ExpressionException e) {
      throw new UsageException(option.key() + ": " + e.getMessage());
    }
  }

  /** The items between the commas that are outside parentheses and angle brackets, trimmed. */
  private static List<String> split(String text) {
    List<String> items = new ArrayList<>();
    int depth = 0;
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      depth += c == '(' || c == '<' ? 1 : c == ')' || c == '>' ? -1 : 0;
      if (c == ',' && depth == 0) {
        items.add(text.substring(start, i).trim());
        start = i + 1;
      }
    }
    items.add(text.substring(start).trim());
    return items;
  }

  private static void checkKeys(Schema schema, List<String> keys) {
    for (String key : keys) {
      try {
        DataType type = schema.type(schema.indexOf(key));
        if (!HashFunction.FLINK_BINARY_ROW.supports(type)) {
          throw new UsageException(
              "partition.by: column '" + key + "' is " + type + ", which is no key");
        }
      } catch (IllegalArgumentException e) {
        throw new UsageException("partition.by: " + e.getMessage());
      }
    }
  }
}
