// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import io.millrace.testing.TableBuilder;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Input of the string benchmarks: page addresses of about 30 bytes. */
@State(Scope.Benchmark)
public class StringInput {
  private static final String[] SECTIONS = {"auction", "person", "item", "help"};

  @Param({"65536", "1048576"})
  public int rows;

  public DeviceStream stream;
  public MemoryResource memory;
  public Table table;

  /** The string of each row. */
  public static String[] texts(int rows) {
    return IntStream.range(0, rows)
        .mapToObj(row -> "/site/" + SECTIONS[row * 7 % 4] + "/page-" + row * 31L + ".html")
        .toArray(String[]::new);
  }

  /** Makes the table on the current device. */
  @Setup
  public void create() {
    Device device = Device.current();
    stream = device.createStream();
    memory = PerDeviceResource.of(device);
    try (DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        Table host =
            new TableBuilder()
                .column("url", DataType.STRING, (Object[]) texts(rows))
                .buildOnHost(hostStream, HostMemoryResource.INSTANCE)) {
      table = host.copyTo(memory, stream, stream);
      stream.synchronize();
    }
  }

  /** Frees the table. */
  @TearDown
  public void close() {
    table.close();
    stream.close();
  }
}
