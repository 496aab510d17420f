// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.source;

import io.millrace.column.Schema;
import io.millrace.connectors.postgres.copy.CopyBinaryEncoder;
import io.millrace.connectors.postgres.copy.CopyDecodingOperator;
import io.millrace.operators.batch.ColumnBatch;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Begins a stream with a table of PostgreSQL. */
@PublicEvolving
public final class PostgresSources {
  private PostgresSources() {}

  /**
   * A bounded stream of the rows of a table as they are when the job starts, each once. All
   * subtasks read, each a range of keys at a time, in one snapshot.
   *
   * <p>A job that is restored continues behind the last key of each range. It reads what is left of
   * the ranges as it is then: a row keeps its place by its key, so none is lost or doubled, but
   * changes of the meantime may show.
   *
   * @param schema the columns to read, by their names in the table; values are cast to its types
   * @param uid the source's identity in checkpoints and savepoints
   * @throws IllegalArgumentException if PostgreSQL has no form for a type
   */
  public static SingleOutputStreamOperator<ColumnBatch> snapshot(
      StreamExecutionEnvironment environment,
      PostgresSourceOptions options,
      Schema schema,
      String uid) {
    SingleOutputStreamOperator<ColumnBatch> rows = snapshot(environment, options, schema);
    rows.getTransformation().getInputs().get(0).setUid(uid);
    return rows;
  }

  /**
   * As the other method, without an identity in checkpoints.
   *
   * @throws IllegalArgumentException as the other method
   */
  public static SingleOutputStreamOperator<ColumnBatch> snapshot(
      StreamExecutionEnvironment environment, PostgresSourceOptions options, Schema schema) {
    new CopyBinaryEncoder().fileStart(schema);
    return CopyDecodingOperator.decode(
        environment.fromSource(
            new KeyRangeSource(options, schema),
            WatermarkStrategy.noWatermarks(),
            "PostgreSQL " + options.table(),
            PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO),
        schema);
  }
}
