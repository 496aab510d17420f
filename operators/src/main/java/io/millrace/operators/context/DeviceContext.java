// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.memory.spill.SpillableResourceAdaptor;
import io.millrace.operators.batch.ColumnBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.annotation.VisibleForTesting;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * The resources of an operator: its device, the stream that it shares with the other operators of
 * its chain, and memory. An operator opens it in {@code open()} and closes it in {@code close()};
 * all of its memory must be released by then.
 *
 * <p>The operators of one chain use one stream, so that the order of calls is the order of work,
 * and no operator waits for another. Copies from and to the host have streams of their own, which
 * memory orders. The last operator to close destroys the streams.
 *
 * <p>The operator's metric group {@code retry} has the gauges {@code retries}, {@code splits} and
 * {@code waitedMillis} of {@link #retry}.
 */
@PublicEvolving
public final class DeviceContext implements AutoCloseable {
  private static final String RETRY_METRICS = "retry";

  private final ChainResources chain;
  private final MemoryResource pinnedResource;
  private final GpuRetry retry;
  private final List<RowCounter> rowCounters = new ArrayList<>();
  private boolean closed;

  private DeviceContext(ChainResources chain) {
    this.chain = chain;
    this.pinnedResource =
        chain.device().isHostAccessible()
            ? chain.resource()
            : SharedDeviceMemory.pinnedMemory(chain.device());
    this.retry =
        new GpuRetry(chain.resource().quota(), SharedDeviceMemory.semaphore(chain.device()));
  }

  /**
   * The context of an operator that is being opened, on the device that {@link DeviceOptions}
   * choose.
   *
   * @throws io.millrace.device.DeviceUnavailableException if a GPU is asked for and cannot be used
   * @throws SuppressRestartsException if one of {@link DeviceOptions} or {@link MemoryOptions} has
   *     a value that it cannot have: the job fails without a restart
   * @throws IllegalStateException if managed memory that Flink promised is not free
   * @throws io.millrace.memory.spill.SpillException if none of the TaskManager's temporary
   *     directories can be written to
   */
  public static DeviceContext open(AbstractStreamOperator<?> operator) {
    DeviceContext context =
        new DeviceContext(LayeredOptions.read(() -> ChainResources.acquire(operator)));
    context.register(operator.getMetricGroup().addGroup(RETRY_METRICS));
    return context;
  }

  /** A context with a stream of its own, outside any job. */
  public static DeviceContext open(Device device) {
    return new DeviceContext(
        ChainResources.acquire(new Object(), JobEnvironment.ofProcess(), () -> device));
  }

  public Device device() {
    return chain.device();
  }

  /** The chain's stream on {@link #device}. Never a default stream. */
  public DeviceStream stream() {
    return chain.stream();
  }

  /**
   * The chain's stream on {@link #device} for copies from the host, which run beside the work of
   * {@link #stream}.
   */
  public DeviceStream uploadStream() {
    return chain.uploadStream();
  }

  /** As {@link #uploadStream}, for copies to the host. */
  public DeviceStream downloadStream() {
    return chain.downloadStream();
  }

  /** A stream of the host, which orders memory of {@link #pinnedResource}. */
  public DeviceStream hostStream() {
    return chain.hostStream();
  }

  /**
   * Memory of {@link #device}, ordered by {@link #stream}. Buffers of it are spillable and count
   * for the job's quota; see {@link MemoryOptions}.
   */
  public SpillableResourceAdaptor resource() {
    return chain.resource();
  }

  /**
   * Pooled host memory that {@link #device} copies at full speed, ordered by a host stream. Where
   * the host is the device, that is {@link #resource}: nothing is copied, so a batch stays there.
   */
  public MemoryResource pinnedResource() {
    return pinnedResource;
  }

  /** Runs the operator's device work, and retries it if it runs out of memory. */
  public GpuRetry retry() {
    return retry;
  }

  /**
   * Ends what the operator is doing if its task was canceled. Called between the rows or batches
   * that one element becomes, since Flink looks only between elements.
   *
   * @throws CancelTaskException if the task was canceled
   */
  public void checkNotCanceled() {
    if (chain.isCanceled()) {
      throw new CancelTaskException("the task was canceled while it sent a batch");
    }
  }

  /** A limit of rows for an operator that decides how many rows a batch has. */
  public SendPace sendPace() {
    return new SendPace(chain.sendTime());
  }

  /**
   * An output to use instead of {@code output} when an operator opens, so that Flink's {@code
   * numRecordsOut} counts their rows, and {@code numBatchesOut} the batches.
   *
   * @param operator whose context this is
   */
  public Output<StreamRecord<ColumnBatch>> countRows(
      AbstractStreamOperator<?> operator, Output<StreamRecord<ColumnBatch>> output) {
    return new RowCountingOutput(output, closeLater(RowCounter.ofOutput(operator)));
  }

  /** The counter, which is closed with this context. */
  public RowCounter closeLater(RowCounter counter) {
    rowCounters.add(counter);
    return counter;
  }

  public SendTime sendTime() {
    return chain.sendTime();
  }

  private void register(MetricGroup group) {
    group.<Long, Gauge<Long>>gauge("retries", retry::retries);
    group.<Long, Gauge<Long>>gauge("splits", retry::splits);
    group.<Long, Gauge<Long>>gauge(
        "waitedMillis", () -> TimeUnit.NANOSECONDS.toMillis(retry.waitedNanos()));
  }

  /** Bytes of {@code device} that all contexts of this process hold now. */
  public static long heldBytes(Device device) {
    return SharedDeviceMemory.heldBytes(device);
  }

  /** Bytes of host memory and disk that hold spilled buffers of this process's contexts now. */
  public static long spilledBytes(Device device) {
    return SharedDeviceMemory.spilledBytes(device);
  }

  /**
   * Bytes that this process's contexts took of {@code device} and of pinned host memory for spilled
   * buffers, used or not. None once no context is open.
   */
  public static long reservedBytes(Device device) {
    return SharedDeviceMemory.reservedBytes(device);
  }

  /**
   * Puts something around the memory of contexts that are opened from now on: beneath their
   * spilling, so that a refusal is met as one of the device's. {@link UnaryOperator#identity} takes
   * it away.
   *
   * @throws IllegalStateException if a context is open
   */
  @VisibleForTesting
  static void wrapMemory(
      UnaryOperator<MemoryResource> deviceMemory, UnaryOperator<MemoryResource> pinnedMemory) {
    SharedDeviceMemory.wrap(deviceMemory, pinnedMemory);
  }

  /** Gives up the chain's streams. Closing twice does nothing. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      FirstFailure failure = new FirstFailure();
      rowCounters.forEach(counter -> failure.run(counter::close));
      failure.run(chain::release);
      failure.rethrow();
    }
  }
}
