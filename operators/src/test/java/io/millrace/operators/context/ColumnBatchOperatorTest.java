// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeferredDevice;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.List;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NothingHeldExtension.class)
class ColumnBatchOperatorTest {
  private static final Schema SCHEMA = Schema.of(new Field("id", DataType.INT64, false));
  private static final List<List<Object>> ROWS = List.of(List.of(1L), List.of(2L));

  private final Device device = new DeferredDevice();
  private final DeviceStream hostStream = HostDevice.INSTANCE.createStream();

  private static final class PassOperator extends ColumnBatchOperator<ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private final boolean takesHostBatches;

    private PassOperator(
        StreamOperatorParameters<ColumnBatch> parameters, boolean takesHostBatches) {
      super(parameters);
      this.takesHostBatches = takesHostBatches;
    }

    @Override
    protected boolean takesHostBatches() {
      return takesHostBatches;
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
      output.collect(element);
    }
  }

  private record Received(Device device, List<List<Object>> rows, long timestamp) {}

  private Received read(StreamRecord<ColumnBatch> element) {
    Table table = element.getValue().table();
    try (DeviceStream stream = device.createStream();
        Table host = table.copyTo(HostMemoryResource.INSTANCE, hostStream, stream)) {
      return new Received(
          table.column(0).device().orElseThrow(),
          TableRows.ofHost(host, hostStream),
          element.getTimestamp());
    }
  }

  /** The batches that an operator at the head of a chain makes of a host batch. */
  private List<Object> receive(boolean takesHostBatches) throws Exception {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(SCHEMA, BodyCodec.RAW);
    OperatorFactory<ColumnBatch, ColumnBatch> factory =
        new OperatorFactory<>(
            PassOperator.class, parameters -> new PassOperator(parameters, takesHostBatches));
    OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness =
        new OneInputStreamOperatorTestHarness<>(factory, serializer);
    harness.getStreamConfig().setChainStart();
    RecordingOutput output = new RecordingOutput(this::read);
    harness.setOutputCreator(type -> output);
    harness.setup(serializer);
    AbstractStreamOperator<?> operator = (AbstractStreamOperator<?>) harness.getOperator();
    ChainResources chain =
        ChainResources.acquire(
            operator.getContainingTask(), JobEnvironment.ofProcess(), () -> device);
    try {
      harness.open();
      Table table =
          TableBuilder.ofRows(SCHEMA, ROWS).buildOnHost(hostStream, HostMemoryResource.INSTANCE);
      harness.processElement(new StreamRecord<>(new ColumnBatch(table), 7));
      return output.elements();
    } finally {
      harness.close();
      chain.release();
    }
  }

  @Test
  void theHeadOfAChainMovesWhatItReceivedToItsDevice() throws Exception {
    assertThat(receive(false)).containsExactly(new Received(device, ROWS, 7));
    assertThat(DeviceContext.heldBytes(device)).isZero();
  }

  @Test
  void anOperatorMayTakeWhatItReceivedOnTheHost() throws Exception {
    assertThat(receive(true)).containsExactly(new Received(HostDevice.INSTANCE, ROWS, 7));
  }
}
