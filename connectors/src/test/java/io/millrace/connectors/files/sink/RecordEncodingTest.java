// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.files.OutputFolder;
import io.millrace.connectors.formats.CsvEncoder;
import io.millrace.connectors.formats.CsvOptions;
import io.millrace.connectors.formats.JsonLinesEncoder;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.TableSourceOperator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Batches in files of records: each row is one record, whatever memory is there. */
@ExtendWith(NothingHeldExtension.class)
class RecordEncodingTest {
  private static final int BATCHES = 6;
  private static final int ROWS = 8;
  private static final int LONG = 3000;
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("text", DataType.STRING));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @TempDir Path folder;

  // Some batches are empty, and most strings are longer than the room that is made for them first.
  private static List<List<Object>> rows(long batch) {
    List<List<Object>> rows = new ArrayList<>();
    for (long i = 0; i < ROWS && batch % 3 != 0; i++) {
      String text = i == 0 ? null : "a\"b,".repeat((int) (i * LONG / ROWS));
      rows.add(Arrays.asList(batch * ROWS + i, text));
    }
    return rows;
  }

  private org.apache.flink.core.fs.Path output(String name) {
    return new org.apache.flink.core.fs.Path(folder.resolve(name).toUri());
  }

  @OutOfMemoryTest(onCluster = true, attempts = 3)
  void eachRowIsARecord() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    DataStream<ColumnBatch> batches =
        TableSourceOperator.batches(
            environment.fromSequence(0, BATCHES - 1), SCHEMA, RecordEncodingTest::rows);
    FileSinks.write(batches, SCHEMA, new JsonLinesEncoder(), output("json"));
    CsvOptions options = CsvOptions.DEFAULT.withHeader(true);
    FileSinks.write(batches, SCHEMA, new CsvEncoder(options), output("csv"));
    flink.run(environment);

    List<List<Object>> rows =
        LongStream.range(0, BATCHES).boxed().flatMap(batch -> rows(batch).stream()).toList();
    assertThat(OutputFolder.sortedLines(folder.resolve("json")))
        .isEqualTo(rows.stream().map(RecordEncodingTest::json).sorted().toList());
    List<String> csv = new ArrayList<>();
    for (Path file : OutputFolder.files(folder.resolve("csv"))) {
      List<String> lines = Files.readAllLines(file);
      assertThat(lines.get(0)).isEqualTo("id,text");
      csv.addAll(lines.subList(1, lines.size()));
    }
    assertThat(csv)
        .containsExactlyInAnyOrderElementsOf(rows.stream().map(RecordEncodingTest::csv).toList());
  }

  private static String json(List<Object> row) {
    Object text = row.get(1);
    String value = text == null ? "null" : "\"" + text.toString().replace("\"", "\\\"") + "\"";
    return "{\"id\":" + row.get(0) + ",\"text\":" + value + "}";
  }

  private static String csv(List<Object> row) {
    Object text = row.get(1);
    String field = text == null ? "" : "\"" + text.toString().replace("\"", "\"\"") + "\"";
    return row.get(0) + "," + field;
  }

  @Test
  void rowsThatCannotBeWrittenAreRefusedBeforeTheJobRuns() {
    DataType type = DataType.INT32;
    for (int i = 0; i < 9; i++) {
      type = DataType.list(type);
    }
    Schema schema = Schema.of(Field.of("deep", type));
    DataStream<ColumnBatch> batches =
        TableSourceOperator.batches(
            flink.environment(1).fromSequence(0, 0), schema, number -> List.of());
    assertThatThrownBy(
            () -> FileSinks.write(batches, schema, new JsonLinesEncoder(), output("json")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("rows cannot be written: column 'deep' has more than 8 lists");
  }
}
