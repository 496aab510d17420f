// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.CudaMemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import io.millrace.memory.resource.TrackingResourceAdaptor;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gives each test the process's device, a stream of this device and tracked memory, and fails the
 * test if memory or staging buffers are held at its end. Register it in a field that is not static:
 *
 * <pre>{@code @RegisterExtension final DeviceExtension device = new DeviceExtension();}</pre>
 *
 * <p>The device is the one that {@code -Dmillrace.device} chooses. With {@code
 * -Dmillrace.memory=unpooled} device memory comes from {@link CudaMemoryResource}, so that a memory
 * checker sees the bounds of each allocation. With {@code -Dmillrace.memory=spilling} each
 * allocation spills every buffer that no scope holds.
 */
public final class DeviceExtension implements BeforeEachCallback, AfterEachCallback {
  /** The system property that chooses device memory: pooled, unpooled or spilling. */
  public static final String MEMORY_PROPERTY = "millrace.memory";

  private Device device;
  private DeviceStream stream;
  private DeviceStream hostStream;
  private TrackingResourceAdaptor fixedMemory;
  private SpillingMemory spillingMemory;
  private TrackingResourceAdaptor hostMemory;
  private long stagingBytesBefore;

  @Override
  public void beforeEach(ExtensionContext context) {
    device = Device.current();
    stream = device.createStream();
    hostStream = HostDevice.INSTANCE.createStream();
    openMemory(System.getProperty(MEMORY_PROPERTY, "pooled"));
    hostMemory = new TrackingResourceAdaptor(HostMemoryResource.INSTANCE);
    stagingBytesBefore = device.stagingPool().heldBytes();
  }

  private void openMemory(String choice) {
    MemoryResource upstream =
        choice.equals("unpooled") ? new CudaMemoryResource(device) : PerDeviceResource.of(device);
    fixedMemory = new TrackingResourceAdaptor(upstream);
    spillingMemory =
        switch (choice) {
          case "pooled", "unpooled" -> null;
          case "spilling" -> new SpillingMemory(upstream);
          default ->
              throw new IllegalArgumentException(
                  "expected pooled, unpooled or spilling for "
                      + MEMORY_PROPERTY
                      + ", got "
                      + choice);
        };
  }

  @Override
  public void afterEach(ExtensionContext context) {
    try (DeviceStream closedStream = stream;
        DeviceStream closedHostStream = hostStream) {
      closedStream.synchronize();
      closedHostStream.synchronize();
      if (context.getExecutionException().isEmpty()) {
        assertNothingHeld();
      }
    } finally {
      if (spillingMemory != null) {
        spillingMemory.close();
      }
    }
  }

  /** Fails if memory of {@link #memory}, {@link #hostMemory} or the staging pool is held. */
  public void assertNothingHeld() {
    assertThat(heldBytes()).as("bytes of device memory held at\n%s", report()).isZero();
    assertThat(hostMemory.heldBytes())
        .as("bytes of host memory held at\n%s", hostMemory.report())
        .isZero();
    assertThat(device.stagingPool().heldBytes())
        .as("bytes of staging memory held")
        .isEqualTo(stagingBytesBefore);
  }

  public Device device() {
    return device;
  }

  /** Whether kernels run on a GPU. */
  public boolean isCuda() {
    return device.kind() == DeviceKind.CUDA;
  }

  /** The test's stream on {@link #device}. */
  public DeviceStream stream() {
    return stream;
  }

  /** A stream of the host, for memory that builders and readers use. */
  public DeviceStream hostStream() {
    return hostStream;
  }

  /** Memory of {@link #device}, as {@link #MEMORY_PROPERTY} chooses. */
  public MemoryResource memory() {
    return spillingMemory == null ? fixedMemory : spillingMemory.resource();
  }

  /** Memory of {@link #device} that is never moved, for tests that compare addresses. */
  public MemoryResource fixedMemory() {
    return fixedMemory;
  }

  /** Bytes of {@link #memory} and {@link #fixedMemory} that are held. */
  public long heldBytes() {
    return fixedMemory.heldBytes() + (spillingMemory == null ? 0 : spillingMemory.heldBytes());
  }

  private String report() {
    return fixedMemory.report() + (spillingMemory == null ? "" : spillingMemory.report());
  }

  /** Host memory. */
  public TrackingResourceAdaptor hostMemory() {
    return hostMemory;
  }

  /** A copy of {@code table} in {@link #memory}, from any device. The caller closes both tables. */
  public Table copyToDevice(Table table) {
    return table.copyTo(memory(), stream, stream);
  }

  /** A copy of {@code table} in {@link #hostMemory}, from any device. The caller closes both. */
  public Table copyToHost(Table table) {
    return table.copyTo(hostMemory, hostStream, stream);
  }

  /** The rows of {@code table}, on any device; see {@link TableRows}. */
  public List<List<Object>> rows(Table table) {
    return TableRows.of(table, this);
  }

  /**
   * Runs {@code work} and, on a GPU, fails if it launched no kernel: a silent fallback to the host
   * must not pass as the device path.
   */
  public <T> T assertLaunches(Supplier<T> work) {
    return assertLaunches(1, work);
  }

  /** As {@link #assertLaunches(Supplier)}, for at least {@code kernels} launches. */
  public <T> T assertLaunches(int kernels, Supplier<T> work) {
    long before = device.launchCount();
    T result = work.get();
    if (isCuda()) {
      assertThat(device.launchCount() - before)
          .as("kernels launched on %s", device.description())
          .isGreaterThanOrEqualTo(kernels);
    }
    return result;
  }
}
