// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.connectors.files.InputFiles;
import io.millrace.connectors.files.LinePosition;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.connectors.formats.CsvOptions;
import io.millrace.connectors.nexmark.NexmarkSchemas;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.jobs.EtlOptions.Format;
import io.millrace.jobs.EtlOptions.OnError;
import io.millrace.jobs.EtlOptions.SinkType;
import io.millrace.jobs.EtlOptions.SourceType;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.operators.sql.SchemaParser;
import io.millrace.operators.sql.SqlExpressions;
import io.millrace.operators.sql.SqlTextException;
import io.millrace.operators.transform.CalcPlan;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;

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
    try {
      return parse(configuration);
    } catch (SqlTextException e) {
      throw new UsageException(e.getMessage());
    }
  }

  private static EtlPlan parse(Configuration configuration) {
    Schema source = sourceSchema(configuration);
    CalcPlan plain = calc(configuration, source, source);
    CalcPlan calc =
        plain.canFail() && skipsBadRows(configuration)
            ? calc(configuration, source, positioned(source))
            : plain;
    List<String> keys =
        configuration
            .getOptional(EtlOptions.PARTITION_BY)
            .map(SchemaParser::parseNames)
            .orElseGet(() -> List.of(calc.outputSchema().field(0).name()));
    checkKeys(calc.outputSchema(), keys);
    EtlPlan plan = new EtlPlan(configuration, source, calc, keys);
    plan.csv();
    return plan;
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

  String savepointsPath() {
    return configuration.getOptional(EtlOptions.SAVEPOINT_PATH).orElse(sinkPath() + "-savepoints");
  }

  /** Whether rows that cannot be read or computed go to {@link #badRowsPath}. */
  boolean skipsBadRows() {
    return skipsBadRows(configuration);
  }

  private static boolean skipsBadRows(Configuration configuration) {
    return configuration.get(EtlOptions.SOURCE_TYPE) == SourceType.FILES
        && configuration.get(EtlOptions.ON_ERROR) == OnError.SKIP;
  }

  /** Whether rows come with their positions, because expressions may fail for some of them. */
  boolean hasPositions() {
    return skipsBadRows() && calc.canFail();
  }

  /** The columns of the rows that the calc gets. */
  Schema inputSchema() {
    return hasPositions() ? positioned(sourceSchema) : sourceSchema;
  }

  private static Schema positioned(Schema source) {
    try {
      return LinePosition.addTo(source);
    } catch (IllegalArgumentException e) {
      throw new UsageException(EtlOptions.SOURCE_SCHEMA.key() + ": " + e.getMessage());
    }
  }

  BadRowLimit badRowLimit() {
    return configuration
        .getOptional(EtlOptions.BAD_ROWS_MAXIMUM)
        .map(BadRowLimit::parse)
        .orElse(BadRowLimit.NONE);
  }

  /**
   * How CSV files are read and written.
   *
   * @throws UsageException if the delimiter is not one character, or one that cannot be
   */
  CsvOptions csv() {
    String text = configuration.get(EtlOptions.CSV_DELIMITER);
    String delimiter = text.equals("\\t") ? "\t" : text;
    if (delimiter.length() != 1) {
      throw new UsageException("csv.delimiter must be one character, but is '" + text + "'");
    }
    try {
      return CsvOptions.DEFAULT
          .withHeader(configuration.get(EtlOptions.CSV_HEADER))
          .withDelimiter(delimiter.charAt(0));
    } catch (IllegalArgumentException e) {
      throw new UsageException("csv.delimiter: " + e.getMessage());
    }
  }

  /** How files are cut into lines. */
  TextLineOptions lines() {
    if (configuration.get(EtlOptions.SOURCE_FORMAT) != Format.CSV) {
      return TextLineOptions.DEFAULT;
    }
    TextLineOptions lines = TextLineOptions.DEFAULT.withHeader(csv().header());
    return configuration.get(EtlOptions.CSV_QUOTED_LINE_FEEDS)
        ? lines.withQuotedLineFeeds(csv().delimiter())
        : lines;
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
    return SchemaParser.parse(
        EtlOptions.SOURCE_SCHEMA.key(),
        required(configuration.get(EtlOptions.SOURCE_SCHEMA), EtlOptions.SOURCE_SCHEMA.key()));
  }

  private static String required(String value, String key) {
    if (value == null || value.isBlank()) {
      throw new UsageException("reading files needs " + key);
    }
    return value;
  }

  /**
   * @param source columns that expressions can name
   * @param input columns that rows have
   */
  private static CalcPlan calc(Configuration configuration, Schema source, Schema input) {
    CalcPlan plan = CalcPlan.of(input, ExpressionSettings.DEFAULT);
    String where = configuration.get(EtlOptions.WHERE);
    String select = configuration.get(EtlOptions.SELECT);
    if (where != null) {
      Expression condition =
          SqlExpressions.parseCondition(
              EtlOptions.WHERE.key(), where, source, SchemaParser::parseType);
      plan = checked(EtlOptions.WHERE, plan::filter, condition);
    }
    if (select != null) {
      List<Expression> columns =
          SqlExpressions.parseSelectList(
              EtlOptions.SELECT.key(), select, source, SchemaParser::parseType);
      return checked(EtlOptions.SELECT, plan::select, columns);
    }
    return input.equals(source)
        ? plan
        : plan.select(source.names().stream().map(Expressions::col).toList());
  }

  private static <T> CalcPlan checked(
      ConfigOption<?> option, Function<T, CalcPlan> step, T argument) {
    try {
      return step.apply(argument);
    } catch (ExpressionException e) {
      throw new UsageException(option.key() + ": " + e.getMessage());
    }
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
