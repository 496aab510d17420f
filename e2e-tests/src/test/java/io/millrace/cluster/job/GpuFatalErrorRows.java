// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster.job;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * As {@link BatchedRows}, with a subtask that makes the GPU's context unusable once a file appears:
 * it launches a kernel that writes to an illegal address. Without a GPU it tells the driver's layer
 * that a call gave the error of such a kernel.
 *
 * <p>Takes the arguments of {@link BatchedRows}, the file, and the thread: {@code task}, or {@code
 * other} for a thread whose errors Flink does not see.
 */
public final class GpuFatalErrorRows {
  private static final Duration BATCH_LATENCY = Duration.ofMillis(100);
  private static final int BATCH_ROWS = 500;
  private static final int ILLEGAL_ADDRESS = 700;
  private static final String WRITE_TO_ILLEGAL_ADDRESS =
      """
      .version 9.0
      .target sm_80
      .address_size 64
      .visible .entry write_to_illegal_address() {
        .reg .b64 %address;
        .reg .b32 %value;
        mov.u64 %address, 16;
        mov.u32 %value, 1;
        st.global.u32 [%address], %value;
        ret;
      }
      """;

  private GpuFatalErrorRows() {}

  public static void main(String[] arguments) throws Exception {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    DataStream<ColumnBatch> batches =
        BatchedRows.batches(
            environment, arguments, BatchOptions.latency(BATCH_LATENCY).withRows(1, BATCH_ROWS), 1);
    String file = arguments[3];
    boolean isInOtherThread = arguments[4].equals("other");
    OperatorFactory<ColumnBatch, ColumnBatch> operators =
        new OperatorFactory<>(
            FailingOperator.class,
            parameters -> new FailingOperator(parameters, file, isInOtherThread));
    BatchedRows.writeByKey(
        operators.appendTo(batches, "failing", batches.getType()).uid("failing"), arguments[2]);
    environment.execute("rows with a fatal GPU error");
  }

  private static final class FailingOperator extends ColumnBatchOperator<ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private final String file;
    private final boolean isInOtherThread;

    FailingOperator(
        StreamOperatorParameters<ColumnBatch> parameters, String file, boolean isInOtherThread) {
      super(parameters);
      this.file = file;
      this.isInOtherThread = isInOtherThread;
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element)
        throws Exception {
      // One subtask deletes the file.
      if (Files.deleteIfExists(Path.of(file))) {
        Device device = deviceContext().device();
        if (isInOtherThread) {
          Thread thread = new Thread(() -> breakContext(device), "other");
          thread.start();
          thread.join();
          throw new IOException("the process goes on");
        }
        breakContext(device);
      }
      output.collect(element);
    }
  }

  private static void breakContext(Device device) {
    if (device.kind() == DeviceKind.HOST) {
      plant();
      return;
    }
    try (DeviceStream stream = device.createStream();
        KernelModule module = device.compileModule(WRITE_TO_ILLEGAL_ADDRESS);
        KernelArguments arguments = new KernelArguments(0)) {
      module.function("write_to_illegal_address").launch(1, 1, 0, stream, arguments);
      stream.synchronize();
    }
  }

  private static void plant() {
    try {
      Method check =
          Class.forName("io.millrace.device.CudaDriver", true, Device.class.getClassLoader())
              .getDeclaredMethod("check", int.class, String.class);
      check.setAccessible(true);
      check.invoke(null, ILLEGAL_ADDRESS, "the planted call");
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the driver's layer did not end the process", e);
    }
  }
}
