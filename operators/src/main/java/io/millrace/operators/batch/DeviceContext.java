package io.millrace.operators.batch;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.PinnedMemoryResource;
import io.millrace.memory.StatisticsResourceAdaptor;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;

/**
 * What an operator works with: its device, the stream that it shares with the other operators of
 * its chain, and memory. An operator opens it in {@code open()} and closes it in {@code close()};
 * all of its memory must be released by then.
 *
 * <p>The operators of one chain use one stream, so that the order of calls is the order of work,
 * and no operator waits for another. The last of them to close destroys the stream.
 */
@PublicEvolving
public final class DeviceContext implements AutoCloseable {
  private static final Map<Device, StatisticsResourceAdaptor> RESOURCES = new ConcurrentHashMap<>();

  private final ChainStream chain;
  private final StatisticsResourceAdaptor resource;
  private final PinnedMemoryResource pinnedResource;
  private boolean closed;

  private DeviceContext(ChainStream chain) {
    this.chain = chain;
    this.resource = resource(chain.device());
    this.pinnedResource = new PinnedMemoryResource(chain.device());
  }

  /**
   * The context of an operator that is being opened, on the device that {@link DeviceOptions}
   * choose.
   *
   * @throws io.millrace.device.DeviceUnavailableException if a GPU is asked for and cannot be used
   */
  public static DeviceContext open(AbstractStreamOperator<?> operator) {
    return new DeviceContext(
        ChainStream.acquire(operator.getContainingTask(), () -> DeviceOptions.device(operator)));
  }

  /** A context with a stream of its own, outside any job. */
  public static DeviceContext open(Device device) {
    return new DeviceContext(ChainStream.acquire(new Object(), () -> device));
  }

  public Device device() {
    return chain.device();
  }

  /** The chain's stream on {@link #device}. Never a default stream. */
  public DeviceStream stream() {
    return chain.stream();
  }

  /** A stream of the host, which orders memory of {@link #pinnedResource}. */
  public DeviceStream hostStream() {
    return chain.hostStream();
  }

  /** Memory of {@link #device}, ordered by {@link #stream}. Counted by {@link #heldBytes}. */
  public MemoryResource resource() {
    return resource;
  }

  /** Pooled host memory that {@link #device} copies at full speed, ordered by a host stream. */
  public MemoryResource pinnedResource() {
    return pinnedResource;
  }

  /** Bytes of {@code device} that all contexts of this process hold now. */
  public static long heldBytes(Device device) {
    return resource(device).statistics().heldBytes();
  }

  private static StatisticsResourceAdaptor resource(Device device) {
    return RESOURCES.computeIfAbsent(
        device, key -> new StatisticsResourceAdaptor(MemoryResource.of(key)));
  }

  /** Gives up the chain's stream. Closing twice does nothing. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      chain.release();
    }
  }
}
