// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.files.sink.EncodingOperator;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.TableSourceOperator;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Batches to rows of COPY and back, without a database; what a database makes of them is in
 * e2e-tests.
 */
@ExtendWith(NothingHeldExtension.class)
class CopyDecodingTest {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("name", DataType.STRING),
          Field.of("price", DataType.decimal(38, 5)),
          Field.of("tags", DataType.list(DataType.STRING)));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static List<List<Object>> rows(long batch) {
    return LongStream.range(batch * 100, batch * 100 + batch * 7)
        .mapToObj(
            id ->
                id % 5 == 0
                    ? Arrays.<Object>asList(id, null, null, null)
                    : List.<Object>of(
                        id,
                        "n\u00e4me " + id,
                        new BigDecimal("-12345678901234567890123456789012.00001")
                            .add(BigDecimal.valueOf(id)),
                        List.of("a", "b" + id)))
        .toList();
  }

  @OutOfMemoryTest(onCluster = true)
  void batchesComeBack() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    BatchCollector collector = new BatchCollector();
    collector.collect(
        CopyDecodingOperator.decode(
            EncodingOperator.encode(
                TableSourceOperator.batches(
                    environment.fromSequence(0, 19), SCHEMA, CopyDecodingTest::rows),
                new CopyBinaryEncoder()),
            SCHEMA));
    flink.run(environment);
    assertThat(collector.rows())
        .containsExactlyInAnyOrderElementsOf(
            LongStream.range(0, 20).boxed().flatMap(i -> rows(i).stream()).toList());
  }

  /** The server may cut its messages as it likes between rows. */
  @Test
  void blocksAreCutBetweenRows() throws Exception {
    ByteBuffer rows = ByteBuffer.allocate(1000);
    for (int i = 0; i < 5; i++) {
      byte[] text = ("k" + i).getBytes(StandardCharsets.UTF_8);
      rows.putShort((short) 3).putInt(8).putLong(i).putInt(-1).putInt(text.length).put(text);
    }
    int rowBytes = rows.position() / 5;
    CopyBlockBuilder builder = new CopyBlockBuilder(3, Integer.MAX_VALUE);
    builder.start();
    ByteArrayOutputStream first = new ByteArrayOutputStream();
    first.writeBytes(CopyFormat.header());
    first.write(rows.array(), 0, 2 * rowBytes);
    assertThat(builder.add(first.toByteArray())).isTrue();
    assertThat(builder.rows()).isEqualTo(2);
    assertThat(builder.isFull()).isFalse();
    assertThat(builder.add(Arrays.copyOfRange(rows.array(), 2 * rowBytes, 3 * rowBytes))).isTrue();
    assertThat(builder.isFull()).isTrue();
    assertThat(builder.position()).isEqualTo("k2");
    assertThat(builder.finish()).hasSize(3 * (rowBytes - 6));
    assertThat(builder.rows()).isZero();
    ByteArrayOutputStream last = new ByteArrayOutputStream();
    last.write(rows.array(), 3 * rowBytes, 2 * rowBytes);
    last.writeBytes(CopyFormat.trailer());
    assertThat(builder.add(last.toByteArray())).isFalse();
    assertThat(builder.position()).isEqualTo("k4");
    assertThat(builder.finish()).hasSize(2 * (rowBytes - 6));
  }

  @Test
  void otherHeadersAreRefused() {
    CopyBlockBuilder builder = new CopyBlockBuilder(3, 1000);
    builder.start();
    assertThatThrownBy(() -> builder.add(new byte[19]))
        .hasMessage("the header of a binary COPY is of another format");
    assertThatThrownBy(() -> builder.add(new byte[5]))
        .hasMessage("a binary COPY begins with a header");
  }
}
