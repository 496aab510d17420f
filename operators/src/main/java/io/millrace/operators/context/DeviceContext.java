// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
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
 * its chain, and memory. An operator opens its context in {@code open()} and closes it in {@code
 * close()}. By then the operator must have released all memory that it allocated.
 *
 * <p>The operators of one chain use one stream: the order of their calls is the order of the
 * device's work, and no operator waits for another. Copies from and to the host run on streams of
 * their own; buffers order these streams with the chain's stream. The last operator of the chain
 * that closes its context destroys the streams.
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
   * @throws io.millrace.device.DeviceUnavailableException if the options request a GPU that cannot
   *     be used
   * @throws SuppressRestartsException if one of {@link DeviceOptions} or {@link MemoryOptions} has
   *     an invalid value: the job fails without a restart
   * @throws IllegalStateException if the managed memory that Flink assigned to the operator is not
   *     free
   * @throws io.millrace.memory.spill.SpillException if none of the TaskManager's temporary
   *     directories can be written to
   */
  public static DeviceContext open(AbstractStreamOperator<?> operator) {
    DeviceContext context =
        new DeviceContext(LayeredOptions.read(() -> ChainResources.acquire(operator)));
    context.register(operator.getMetricGroup().addGroup(RETRY_METRICS));
    return context;
  }

  /**
   * A context with streams of its own and memory of the operator's job, for work that several
   * subtasks share: it may be used behind the end of the operator's task, by one thread. Its
   * buffers are spilled to disk only.
   *
   * @throws io.millrace.memory.spill.SpillException as {@link #open(AbstractStreamOperator)}
   */
  public static DeviceContext openShared(AbstractStreamOperator<?> operator, Device device) {
    return new DeviceContext(
        LayeredOptions.read(() -> ChainResources.acquireShared(operator, device)));
  }

  /** A context with streams of its own, outside any job. */
  public static DeviceContext open(Device device) {
    return new DeviceContext(
        ChainResources.acquire(new Object(), JobEnvironment.ofProcess(), () -> device));
  }

  /**
   * A context with streams of its own, for code in a TaskManager that knows no operator. {@link
   * DeviceOptions} and {@link MemoryOptions} are those of Flink's configuration file and of the
   * process; memory counts for no job, and there is no disk tier.
   *
   * @throws io.millrace.device.DeviceUnavailableException if the options request a GPU that cannot
   *     be used
   * @throws IllegalArgumentException if an option has an invalid value
   */
  public static DeviceContext openWithoutOperator() {
    LayeredOptions options = LayeredOptions.ofConfigurationFile();
    return new DeviceContext(ChainResources.acquireWithoutOperator(options));
  }

  /**
   * Another context of the same chain, which keeps the chain's memory and streams until it is
   * closed, by any thread.
   */
  public DeviceContext share() {
    return new DeviceContext(chain.share());
  }

  public Device device() {
    return chain.device();
  }

  /** The chain's stream on {@link #device}. Never CUDA's default stream. */
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

  /** The chain's stream on the host, which orders memory of {@link #pinnedResource}. */
  public DeviceStream hostStream() {
    return chain.hostStream();
  }

  /**
   * Allocates memory of {@link #device}, ordered by {@link #stream}. Its buffers can be spilled and
   * count for the job's quota; see {@link MemoryOptions}.
   */
  public SpillableResourceAdaptor resource() {
    return chain.resource();
  }

  /**
   * Allocates pooled host memory that {@link #device} copies at full speed, ordered by a host
   * stream. If the device is the host, this is {@link #resource}: a batch is not copied, so it
   * stays in the memory in which it was made.
   */
  public MemoryResource pinnedResource() {
    return pinnedResource;
  }

  /**
   * Logs why an operator works on the host although the device is a GPU; nothing on the host.
   *
   * @param reasons nothing is logged if there are none
   */
  public void logFallback(AbstractStreamOperator<?> operator, List<String> reasons) {
    if (device().kind() == DeviceKind.CUDA && !reasons.isEmpty()) {
      new EventLine("fallback")
          .with("operator", operator.getMetricGroup().getMetricIdentifier(""))
          .with("reason", String.join("; ", reasons))
          .log();
    }
  }

  /** Runs the operator's device work, and retries it if it runs out of memory. */
  public GpuRetry retry() {
    return retry;
  }

  /**
   * Stops the operator's work if its task was canceled. An operator that emits several rows or
   * batches for one element calls this between them, because Flink checks for cancellation only
   * between elements.
   *
   * @throws CancelTaskException if the task was canceled
   */
  public void checkNotCanceled() {
    if (chain.isCanceled()) {
      throw new CancelTaskException("the task was canceled while it sent a batch");
    }
  }

  /** A new row limit, for an operator that chooses how many rows its batches have. */
  public SendPace sendPace() {
    return new SendPace(chain.sendTime());
  }

  /**
   * Wraps {@code output} so that Flink's {@code numRecordsOut} counts the rows of batches, and
   * {@code numBatchesOut} the batches. The operator replaces its output by the result when it
   * opens.
   *
   * @param operator the operator of this context
   */
  public Output<StreamRecord<ColumnBatch>> countRows(
      AbstractStreamOperator<?> operator, Output<StreamRecord<ColumnBatch>> output) {
    return new RowCountingOutput(output, closeLater(RowCounter.ofOutput(operator)));
  }

  /** Closes {@code counter} with this context, and returns it. */
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
   * Bytes that the pools of this process's contexts reserved, used or free: of {@code device}, and
   * of pinned host memory for spilled buffers. 0 if no context is open.
   */
  public static long reservedBytes(Device device) {
    return SharedDeviceMemory.reservedBytes(device);
  }

  /**
   * Wraps the memory of contexts that are opened from now on. The wrapper is below spilling, so
   * that a wrapper that refuses memory looks like a device that refuses memory. {@link
   * UnaryOperator#identity} removes it.
   *
   * @throws IllegalStateException if a context is open
   */
  @VisibleForTesting
  static void wrapMemory(
      UnaryOperator<MemoryResource> deviceMemory, UnaryOperator<MemoryResource> pinnedMemory) {
    SharedDeviceMemory.wrap(deviceMemory, pinnedMemory);
  }

  /** Ends the operator's use of the chain's resources. A second call does nothing. */
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
