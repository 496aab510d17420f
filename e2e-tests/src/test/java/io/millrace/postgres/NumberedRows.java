// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.TableSourceOperator;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Batches of rows with numbers from 0, in which a lost or a doubled row can be told. */
final class NumberedRows {
  static final int BATCH_ROWS = 7;
  static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("name", DataType.STRING));

  private NumberedRows() {}

  /** Makes a table for the rows, without any constraint: it takes doubled rows. */
  static void createTable(Sql sql, String name) throws Exception {
    sql.execute("CREATE TABLE " + name + " (name text, id bigint NOT NULL)");
  }

  /** {@code batches} batches at the pace of {@code failures}, which also makes them fail. */
  static DataStream<ColumnBatch> batches(
      StreamExecutionEnvironment environment, long batches, Failures<Long> failures) {
    DataStream<Long> numbers =
        environment
            .fromSequence(0, batches - 1)
            .uid("numbers")
            .map(failures)
            .returns(Types.LONG)
            .uid("failures");
    return TableSourceOperator.batches(numbers, SCHEMA, NumberedRows::rows);
  }

  private static List<List<Object>> rows(long batch) {
    return LongStream.range(batch * BATCH_ROWS, (batch + 1) * BATCH_ROWS)
        .mapToObj(id -> List.<Object>of(id, "name " + id))
        .toList();
  }

  /** How many of the rows are missing, doubled, or have a wrong value. */
  static long differences(Sql sql, String table, long batches) throws Exception {
    return sql.number(
        "SELECT count(*) FROM generate_series(0, "
            + (batches * BATCH_ROWS - 1)
            + ") AS expected (id) FULL JOIN (SELECT id, count(*) AS rows, min(name) AS low,"
            + " max(name) AS high FROM "
            + table
            + " GROUP BY id) AS got USING (id) WHERE expected.id IS NULL OR rows IS DISTINCT FROM 1"
            + " OR low IS DISTINCT FROM 'name ' || id OR high IS DISTINCT FROM low");
  }
}
