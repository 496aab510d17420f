// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.lookup;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A lookup between other steps of a job. */
@ExtendWith(NothingHeldExtension.class)
class LookupJobTest {
  private static final Schema ASKED = Schema.of(new Field("n", DataType.INT64, false));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @OutOfMemoryTest(onCluster = true)
  void rowsGetTheColumnsOfTheTable() throws Exception {
    RefreshOptions seldom = RefreshOptions.every(Duration.ofDays(1));
    ListDimension items = new ListDimension("job items", seldom);
    items
        .contents()
        .set(
            LongStream.range(0, 100)
                .mapToObj(id -> List.<Object>of("label " + id, id, (int) id * 2))
                .toList());
    StreamExecutionEnvironment environment = flink.environment(2);
    DataStream<Row> rows =
        environment.fromSequence(0, 999).map(n -> Row.of(n)).returns(Types.ROW(Types.LONG));
    ColumnStream stream =
        ColumnStream.from(rows, ASKED)
            .batch()
            .withColumn("item", col("n").mod(200).cast(DataType.INT64))
            .lookup(Lookup.inner(items, "item"))
            .select(col("n"), col("price"), col("label"));
    assertThat(stream.explain())
        .contains("Lookup(table=[job items], on=[item = id]) [GPU if there is one]");
    BatchCollector collector = new BatchCollector();
    collector.collect(stream.toBatches());
    flink.run(environment);
    assertThat(collector.rows())
        .hasSize(500)
        .allSatisfy(
            row -> {
              long item = (Long) row.get(0) % 200;
              assertThat(row).isEqualTo(List.of(row.get(0), (int) item * 2, "label " + item));
            });
  }
}
