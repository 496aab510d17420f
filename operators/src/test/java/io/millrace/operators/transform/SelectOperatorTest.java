package io.millrace.operators.transform;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batch.BodyCodec;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.ColumnBatchSerializer;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class SelectOperatorTest {
  private static final Schema SCHEMA =
      Schema.of(Field.of("id", DataType.INT64), Field.of("price", DataType.INT32));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness;
  private final RecordingOutput output = new RecordingOutput(this::read);

  private Object read(StreamRecord<ColumnBatch> element) {
    return List.of(device.rows(element.getValue().table()), element.getTimestamp());
  }

  @BeforeEach
  void open() throws Exception {
    Select select =
        new Select(
            SCHEMA,
            List.of(
                new Projection("price", Field.of("eur", DataType.FLOAT64)),
                new Projection("id", Field.of("small", DataType.INT8))));
    harness =
        new OneInputStreamOperatorTestHarness<>(
            SelectOperator.factory(select), new ColumnBatchSerializer(SCHEMA, BodyCodec.RAW));
    harness.setOutputCreator(serializer -> output);
    harness.open();
  }

  @AfterEach
  void close() throws Exception {
    harness.close();
  }

  // The harness's operator is not the head of a chain: the sender releases.
  private void send(long timestamp, List<List<Object>> rows) throws Exception {
    ColumnBatch batch = new ColumnBatch(TableBuilder.ofRows(SCHEMA, rows).build(device));
    try {
      harness.processElement(new StreamRecord<>(batch, timestamp));
    } finally {
      batch.release();
    }
  }

  @OutOfMemoryTest
  void eachBatchIsSelectedFromAndKeepsItsTimestamp() throws Exception {
    send(77, List.of(List.of(1L, 300), Arrays.asList(2L, null)));
    send(78, List.of(List.of(258L, 5)));
    assertThat(output.elements())
        .containsExactly(
            List.of(List.of(List.of(300.0, (byte) 1), Arrays.asList(null, (byte) 2)), 77L),
            List.of(List.of(List.of(5.0, (byte) 2)), 78L));
  }

  // The third attempt is the last; then the batch is selected from in parts.
  @OutOfMemoryTest(attempts = 3)
  void noRowIsLostIfABatchDoesNotFit() throws Exception {
    send(77, List.of(List.of(1L, 10), List.of(2L, 20), List.of(3L, 30)));
    assertThat(output.elements().stream().flatMap(SelectOperatorTest::rows))
        .containsExactly(List.of(10.0, (byte) 1), List.of(20.0, (byte) 2), List.of(30.0, (byte) 3));
  }

  private static Stream<Object> rows(Object element) {
    return ((List<?>) ((List<?>) element).get(0)).stream().map(row -> row);
  }
}
