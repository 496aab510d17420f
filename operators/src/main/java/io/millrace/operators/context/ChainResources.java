// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillableResourceAdaptor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.flink.annotation.Internal;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.tasks.StreamTask;

/**
 * The streams and the memory that the operators of one chain share. It counts its users; the last
 * one releases the resources. A chain is identified by the task that its operators have in common.
 */
@Internal
public final class ChainResources {
  private static final Map<Object, ChainResources> OPEN = new HashMap<>();

  private final Object chain;
  private final Object slot;
  private final JobEnvironment job;
  private final Device device;
  private final SendTime sendTime;
  private final Optional<ManagedMemoryBudget> managedMemory;
  private final SpillableResourceAdaptor resource;
  private final List<DeviceStream> streams = new ArrayList<>();
  private final DeviceStream stream;
  private final DeviceStream uploadStream;
  private final DeviceStream downloadStream;
  private final DeviceStream hostStream;
  private int users;

  private ChainResources(
      Object chain, Object slot, JobEnvironment job, SendTime sendTime, Device device) {
    this.chain = chain;
    this.slot = slot;
    this.job = job;
    this.sendTime = sendTime;
    this.device = device;
    JobMemory jobMemory = SharedDeviceMemory.acquire(device, job);
    try {
      this.managedMemory =
          job.memoryManager()
              .map(manager -> new ManagedMemoryBudget(manager, jobMemory::warnOfNoManagedMemory));
      this.resource =
          jobMemory.resource(
              managedMemory.<MemoryBudget>map(budget -> budget).orElse(job.hostBudget()));
      this.hostStream = createStream(HostDevice.INSTANCE);
      this.stream = createStream(device);
      this.uploadStream = createStream(device);
      this.downloadStream = createStream(device);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      closeStreams(failure);
      failure.run(() -> SharedDeviceMemory.release(device, job));
      throw e;
    }
  }

  private DeviceStream createStream(Device of) {
    DeviceStream created = of.createStream();
    streams.add(created);
    return created;
  }

  private void closeStreams(FirstFailure failure) {
    streams.forEach(opened -> failure.run(opened::close));
  }

  /**
   * The resources of the chain that {@code operator} is part of. The operator calls this when it
   * opens, and {@link #release} when it closes.
   */
  static ChainResources acquire(AbstractStreamOperator<?> operator) {
    FatalErrorExit.install();
    StreamTask<?, ?> task = operator.getContainingTask();
    String slot = slot(operator);
    synchronized (OPEN) {
      boolean first = !OPEN.containsKey(task);
      ChainResources open =
          acquire(
              task,
              slot,
              JobEnvironment.of(operator),
              new SendTime(operator.getProcessingTimeService()::getCurrentProcessingTime),
              () -> DeviceOptions.device(operator, gpus -> gpuOf(slot, gpus)));
      try {
        open.managedMemory.ifPresent(budget -> budget.add(operator));
        if (first) {
          MetricGroup metrics = task.getEnvironment().getMetricGroup();
          MemoryMetrics.register(metrics, open.resource.quota(), open.device());
          registerLaunches(metrics, open.device());
        }
      } catch (RuntimeException | Error e) {
        open.release();
        throw e;
      }
      return open;
    }
  }

  private static String slot(AbstractStreamOperator<?> operator) {
    return operator.getRuntimeContext().getTaskInfo().getAllocationIDAsString();
  }

  // The GPU is a label, so that the metric alone tells what runs where.
  private static void registerLaunches(MetricGroup task, Device device) {
    if (device.kind() == DeviceKind.CUDA) {
      task.addGroup("device", String.valueOf(device.index()))
          .<Long, Gauge<Long>>gauge("kernelLaunches", device::launchCount);
    }
  }

  /**
   * The GPU that the chains of a slot use: all chains of the slot use the same, so that batches
   * between them stay there, and slots take turns.
   *
   * @param gpus indexes, at least one
   * @return the GPU of the slot's open chains, or else the first of those that the fewest slots use
   */
  static int gpuOf(Object slot, List<Integer> gpus) {
    Map<Object, Integer> used = new HashMap<>();
    synchronized (OPEN) {
      OPEN.values().forEach(open -> used.put(open.slot, open.device.index()));
    }
    Integer own = used.get(slot);
    return own != null && gpus.contains(own)
        ? own
        : gpus.stream()
            .min(Comparator.comparingInt(gpu -> Collections.frequency(used.values(), gpu)))
            .orElseThrow();
  }

  /**
   * Resources of their own, with streams of {@code device} and memory of {@code operator}'s job,
   * for work that does not end with its task. Without host memory for spilled buffers: the managed
   * memory of a slot ends with the slot's tasks.
   */
  static ChainResources acquireShared(AbstractStreamOperator<?> operator, Device device) {
    FatalErrorExit.install();
    JobEnvironment job = JobEnvironment.of(operator).withoutHostMemory();
    return acquire(new Object(), slot(operator), job, () -> device);
  }

  /** Resources of their own, for code that knows no operator. */
  static ChainResources acquireWithoutOperator(LayeredOptions options) {
    FatalErrorExit.install();
    Object slot = new Object();
    return acquire(
        slot,
        JobEnvironment.ofProcess(options),
        () -> DeviceOptions.device(options, List.of(), gpus -> gpuOf(slot, gpus)));
  }

  /**
   * The chain's resources; the first user of the chain chooses the device.
   *
   * @param job the job that the chain is part of
   */
  static ChainResources acquire(Object chain, JobEnvironment job, Supplier<Device> device) {
    return acquire(chain, chain, job, device);
  }

  /** As {@link #acquire(Object, JobEnvironment, Supplier)}, of a chain in a slot. */
  static ChainResources acquire(
      Object chain, Object slot, JobEnvironment job, Supplier<Device> device) {
    return acquire(chain, slot, job, new SendTime(() -> 0), device);
  }

  private static ChainResources acquire(
      Object chain, Object slot, JobEnvironment job, SendTime sendTime, Supplier<Device> device) {
    synchronized (OPEN) {
      ChainResources open =
          OPEN.computeIfAbsent(
              chain, key -> new ChainResources(key, slot, job, sendTime, device.get()));
      open.users++;
      return open;
    }
  }

  /**
   * The device of any open chain of this process or, if no chain is open, {@link Device#current}.
   * For pinned memory any GPU will do: what is pinned for one GPU is pinned for all.
   */
  public static Device anyDevice() {
    synchronized (OPEN) {
      return OPEN.values().stream()
          .map(ChainResources::device)
          .findAny()
          .orElseGet(Device::current);
    }
  }

  /** This, with one more user. */
  ChainResources share() {
    synchronized (OPEN) {
      users++;
      return this;
    }
  }

  Device device() {
    return device;
  }

  /** Memory that counts for the job's quota. */
  SpillableResourceAdaptor resource() {
    return resource;
  }

  /** The time that the chain's thread spent sending. */
  SendTime sendTime() {
    return sendTime;
  }

  /** Whether the chain is a task that was canceled. */
  boolean isCanceled() {
    return chain instanceof StreamTask<?, ?> task && task.isCanceled();
  }

  DeviceStream stream() {
    return stream;
  }

  DeviceStream uploadStream() {
    return uploadStream;
  }

  DeviceStream downloadStream() {
    return downloadStream;
  }

  DeviceStream hostStream() {
    return hostStream;
  }

  /**
   * Removes one user. The last user's call waits for the work on the streams, destroys the streams
   * and releases the job's memory.
   */
  void release() {
    synchronized (OPEN) {
      if (--users > 0) {
        return;
      }
      OPEN.remove(chain);
    }
    FirstFailure failure = new FirstFailure();
    closeStreams(failure);
    failure.run(() -> managedMemory.ifPresent(ManagedMemoryBudget::close));
    failure.run(() -> SharedDeviceMemory.release(device, job));
    failure.rethrow();
  }
}
