// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster.job;

import io.millrace.column.Column;
import io.millrace.column.ColumnBuilder;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.kernel.cast.Cast;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * A job that uses the device from user code and says so: each subtask casts a column on the current
 * device and prints the result, its process and the class loaders. It then runs until it is
 * cancelled.
 *
 * <p>Arguments: the name that the printed lines begin with.
 */
public final class DeviceProbe {
  /** The result of {@link #castAndSum} on any device. */
  public static final long EXPECTED_SUM = 499_500;

  private static final int ROWS = 1_000;

  private DeviceProbe() {}

  public static void main(String[] arguments) throws Exception {
    String name = arguments[0];
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    environment
        .fromSource(
            new DataGeneratorSource<>(
                index -> index, Long.MAX_VALUE, RateLimiterStrategy.perSecond(10), Types.LONG),
            WatermarkStrategy.noWatermarks(),
            "ticks")
        .map(new Probe(name))
        .sinkTo(new DiscardingSink<>());
    environment.execute(name);
  }

  private static final class Probe extends RichMapFunction<Long, Long> {
    private static final long serialVersionUID = 1L;

    private final String name;

    Probe(String name) {
      this.name = name;
    }

    @Override
    public void open(OpenContext context) throws Exception {
      Device device = Device.current();
      long sum = castAndSum(device);
      ClassLoader jobLoader = getClass().getClassLoader();
      Class<?> driver = Class.forName("jcuda.driver.JCudaDriver", false, jobLoader);
      System.out.printf(
          "%s: sum=%d device=%s launches=%d job=%s kernels=%s jcuda=%s%n",
          name,
          sum,
          device.kind(),
          device.launchCount(),
          describe(jobLoader),
          describe(Device.class.getClassLoader()),
          describe(driver.getClassLoader()));
    }

    @Override
    public Long map(Long value) {
      return value;
    }

    private static String describe(ClassLoader loader) {
      return loader.getClass().getSimpleName() + "@" + System.identityHashCode(loader);
    }
  }

  private static long castAndSum(Device device) {
    Device host = Device.select("host", 0);
    MemoryResource hostMemory = PerDeviceResource.of(host);
    MemoryResource memory = PerDeviceResource.of(device);
    try (DeviceStream hostStream = host.createStream();
        DeviceStream stream = device.createStream();
        Column numbers = numbers(hostStream, hostMemory);
        Column input = numbers.copyTo(memory, stream, stream);
        Column output = Cast.cast(input, DataType.INT64, stream, memory);
        Column result = output.copyTo(hostMemory, hostStream, stream);
        AccessScope scope = AccessScope.on(hostStream)) {
      ColumnReader reader = new ColumnReader(result, scope);
      long sum = 0;
      for (int row = 0; row < ROWS; row++) {
        sum += reader.getLong(row);
      }
      return sum;
    }
  }

  private static Column numbers(DeviceStream stream, MemoryResource memory) {
    try (FixedWidthColumnBuilder builder =
        (FixedWidthColumnBuilder) ColumnBuilder.of(DataType.INT32, stream, memory)) {
      for (int value = 0; value < ROWS; value++) {
        builder.appendInt(value);
      }
      return builder.finish();
    }
  }
}
