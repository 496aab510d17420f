// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Repeats the allocations and frees of a real run on each resource, and on the pool under each
 * adaptor.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class AllocationReplayBenchmark {

  /** The resource that is measured. */
  public enum Resource {
    CUDA,
    CUDA_ASYNC,
    POOL,
    FAILURE_CALLBACK_POOL,
    LIMITING_POOL,
    LOGGING_POOL,
    STATISTICS_POOL,
    TRACKING_POOL,
    TRACKING_STACKS_POOL,
    PINNED_HOST,
    PINNED_HOST_POOL
  }

  /** A trace that is ready to be repeated on a resource. */
  @State(Scope.Benchmark)
  public static class Replay {
    /** A trace that is shipped here, or the path of one. */
    @Param("partition.csv")
    public String trace;

    @Param public Resource resource;

    private PoolMemoryResource pool;
    private AllocationReplay replay;

    @Setup
    public void open() throws IOException {
      Device device = Device.current();
      MemoryResource upstream =
          resource == Resource.PINNED_HOST_POOL
              ? new PinnedHostMemoryResource(device)
              : new CudaMemoryResource(device);
      pool = new PoolMemoryResource(upstream, 64L << 20, Long.MAX_VALUE);
      replay = new AllocationReplay(read(trace), adapt(resource, pool));
    }

    @TearDown
    public void close() {
      replay.close();
      try (DeviceStream stream = pool.device().createStream()) {
        pool.trim(stream);
      }
    }
  }

  private static MemoryResource adapt(Resource resource, PoolMemoryResource pool) {
    return switch (resource) {
      case CUDA -> new CudaMemoryResource(pool.device());
      case CUDA_ASYNC -> new CudaAsyncMemoryResource(pool.device());
      case PINNED_HOST -> new PinnedHostMemoryResource(pool.device());
      case POOL, PINNED_HOST_POOL -> pool;
      case FAILURE_CALLBACK_POOL -> new FailureCallbackResourceAdaptor(pool, bytes -> false);
      case LIMITING_POOL -> new LimitingResourceAdaptor(pool, Long.MAX_VALUE);
      case LOGGING_POOL -> new LoggingResourceAdaptor(pool, Writer.nullWriter(), System::nanoTime);
      case STATISTICS_POOL -> new StatisticsResourceAdaptor(pool);
      case TRACKING_POOL -> new TrackingResourceAdaptor(pool, false);
      case TRACKING_STACKS_POOL -> new TrackingResourceAdaptor(pool, true);
    };
  }

  private static AllocationTrace read(String name) throws IOException {
    var shipped = AllocationReplayBenchmark.class.getResourceAsStream(name);
    try (Reader reader =
        shipped == null
            ? Files.newBufferedReader(Path.of(name))
            : new InputStreamReader(shipped, StandardCharsets.UTF_8)) {
      return AllocationTrace.read(reader);
    }
  }

  /** Repeats the trace, one thread for each of its threads, and waits for the threads. */
  @Benchmark
  public void replay(Replay input) throws ExecutionException, InterruptedException {
    input.replay.run();
  }
}
