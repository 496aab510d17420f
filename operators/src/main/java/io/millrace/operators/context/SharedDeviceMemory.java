// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.CudaMemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.LimitingResourceAdaptor;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.resource.PoolMemoryResource;
import io.millrace.memory.resource.StagingMemoryResource;
import io.millrace.memory.retry.GpuSemaphore;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.apache.flink.util.FatalExitExceptionHandler;
import org.apache.flink.util.clock.SystemClock;
import org.apache.flink.util.concurrent.ExecutorThreadFactory;

/**
 * The memory of a device that the jobs of this process share: pools of device and pinned host
 * memory, one {@link SpillManager} over them with a {@link SpillQuota} for each job, and the
 * semaphore that limits how many threads use the device. It exists as long as a job uses the
 * device. When the last job ends, the pools free their memory, so that other processes can use it;
 * a job that begins meanwhile waits until this is done.
 */
final class SharedDeviceMemory {
  // Large enough that a pool takes few pieces, small enough to leave memory to other processes.
  private static final long PIECE_BYTES = 64L << 20;
  // Pinning takes about a millisecond for 4 MiB.
  private static final long HOST_PIECE_BYTES = 16L << 20;

  // Its lock guards all static state and the counts of users.
  private static final Map<Device, SharedDeviceMemory> OPEN = new HashMap<>();
  private static final AtomicReference<Wrappers> WRAPPERS =
      new AtomicReference<>(new Wrappers(UnaryOperator.identity(), UnaryOperator.identity()));

  private record Wrappers(
      UnaryOperator<MemoryResource> device, UnaryOperator<MemoryResource> pinned) {}

  private final Device device;
  private final Optional<PoolMemoryResource> devicePool;
  private final PoolMemoryResource hostPool;
  private final SpillManager manager;
  private final GpuSemaphore semaphore;
  private final Map<Object, JobMemory> jobs = new HashMap<>();
  private final ScheduledExecutorService spillLog =
      Executors.newSingleThreadScheduledExecutor(
          new ExecutorThreadFactory("millrace spill log", FatalExitExceptionHandler.INSTANCE));

  private final ScheduledFuture<?> spillLogging;

  private SharedDeviceMemory(Device device, LayeredOptions options) {
    this.device = device;
    this.semaphore =
        new GpuSemaphore(
            DeviceOptions.concurrency(device, options),
            SystemClock.getInstance()::relativeTimeNanos);
    long memoryLimit = MemoryOptions.processBytes(options, MemoryOptions.DEVICE_MEMORY_LIMIT);
    long deviceLimit = MemoryOptions.processBytes(options, MemoryOptions.SPILL_DEVICE_LIMIT);
    this.devicePool =
        device.kind() == DeviceKind.HOST
            ? Optional.empty()
            : Optional.of(
                new PoolMemoryResource(new CudaMemoryResource(device), PIECE_BYTES, memoryLimit));
    this.hostPool =
        new PoolMemoryResource(
            new PinnedHostMemoryResource(device), HOST_PIECE_BYTES, Long.MAX_VALUE);
    MemoryResource deviceMemory =
        devicePool
            .<MemoryResource>map(pool -> pool)
            .orElseGet(() -> new LimitingResourceAdaptor(HostMemoryResource.INSTANCE, memoryLimit));
    this.manager =
        new SpillManager(
            WRAPPERS.get().device().apply(deviceMemory),
            hostPool,
            deviceLimit,
            options.ofProcess(MemoryOptions.SPILL_ON_DEMAND).orElseThrow(),
            new SpillStatistics(2),
            SystemClock.getInstance()::relativeTimeNanos);
    long interval = SpillBurst.QUIET.toMillis();
    this.spillLogging =
        spillLog.scheduleWithFixedDelay(
            this::logSpilling, interval, interval, TimeUnit.MILLISECONDS);
  }

  private void logSpilling() {
    synchronized (OPEN) {
      jobs.values().forEach(job -> job.logSpilling(SystemClock.getInstance().relativeTimeNanos()));
    }
  }

  /**
   * The memory of {@code job} on {@code device}. It stays open until {@link #release} was called as
   * often as this method.
   *
   * @throws IllegalArgumentException if a memory option has an invalid value
   * @throws io.millrace.memory.spill.SpillException if none of the job's directories can be written
   *     to
   */
  static JobMemory acquire(Device device, JobEnvironment job) {
    synchronized (OPEN) {
      SharedDeviceMemory memory =
          OPEN.computeIfAbsent(device, key -> new SharedDeviceMemory(key, job.options()));
      try {
        return memory.acquire(job);
      } finally {
        memory.closeIfUnused();
      }
    }
  }

  private JobMemory acquire(JobEnvironment job) {
    JobMemory open = jobs.computeIfAbsent(job.id(), id -> new JobMemory(openQuota(job)));
    open.addUser();
    return open;
  }

  private SpillQuota openQuota(JobEnvironment job) {
    return manager.openQuota(
        job.name(), MemoryOptions.jobLimits(job.options(), job.spillDirectories()));
  }

  /** The semaphore of {@code device}; some job must be using the device. */
  static GpuSemaphore semaphore(Device device) {
    synchronized (OPEN) {
      return OPEN.get(device).semaphore;
    }
  }

  /**
   * Releases the result of {@link #acquire}. The last call for a job closes its quota and frees the
   * host memory of its spilled buffers, because Flink gives the managed memory that accounted for
   * it to other jobs.
   */
  static void release(Device device, JobEnvironment job) {
    synchronized (OPEN) {
      OPEN.get(device).release(job);
    }
  }

  private void release(JobEnvironment job) {
    JobMemory open = jobs.get(job.id());
    if (!open.removeUser()) {
      return;
    }
    jobs.remove(job.id());
    try {
      open.close();
      trimHostPool();
    } finally {
      closeIfUnused();
    }
  }

  private void trimHostPool() {
    if (hostPool.reservedBytes() > 0) {
      try (DeviceStream stream = device.createStream()) {
        hostPool.trim(stream);
      }
    }
  }

  // While any memory is held, the manager must exist: it is called when the memory is freed.
  private void closeIfUnused() {
    if (jobs.isEmpty()
        && manager.deviceBytes() == 0
        && hostPool.heldBytes() == 0
        && devicePool.map(PoolMemoryResource::heldBytes).orElse(0L) == 0) {
      OPEN.remove(device);
      close();
    }
  }

  private void close() {
    spillLogging.cancel(false);
    spillLog.shutdownNow();
    try (DeviceStream stream = device.createStream()) {
      manager.close();
      devicePool.ifPresent(pool -> pool.trim(stream));
      hostPool.trim(stream);
      device.stagingPool().trim();
    } finally {
      HostDevice.INSTANCE.trim();
    }
  }

  /** Pinned host memory for transfers to and from {@code device}. */
  static MemoryResource pinnedMemory(Device device) {
    synchronized (OPEN) {
      return WRAPPERS.get().pinned().apply(new StagingMemoryResource(device));
    }
  }

  /** Bytes of {@code device} that all jobs of this process hold now. */
  static long heldBytes(Device device) {
    return bytes(device, memory -> memory.manager.deviceBytes());
  }

  /** Bytes of host memory and disk that hold spilled buffers of {@code device} now. */
  static long spilledBytes(Device device) {
    return bytes(
        device,
        memory ->
            memory.hostPool.heldBytes()
                + memory.jobs.values().stream().mapToLong(JobMemory::diskBytes).sum());
  }

  /** Bytes that the pools of this process reserved for {@code device}, used or free. */
  static long reservedBytes(Device device) {
    return bytes(
        device,
        memory ->
            memory.hostPool.reservedBytes()
                + memory.devicePool.map(PoolMemoryResource::reservedBytes).orElse(0L));
  }

  private static long bytes(Device device, ToLongFunction<SharedDeviceMemory> bytes) {
    synchronized (OPEN) {
      SharedDeviceMemory memory = OPEN.get(device);
      return memory == null ? 0 : bytes.applyAsLong(memory);
    }
  }

  /** See {@link DeviceContext#wrapMemory}. */
  static void wrap(
      UnaryOperator<MemoryResource> deviceMemory, UnaryOperator<MemoryResource> pinnedMemory) {
    synchronized (OPEN) {
      if (!OPEN.isEmpty()) {
        throw new IllegalStateException("memory of " + OPEN.keySet() + " is in use");
      }
      WRAPPERS.set(new Wrappers(deviceMemory, pinnedMemory));
    }
  }
}
