// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.AllocationTrace.Event;
import io.millrace.memory.resource.StatisticsResourceAdaptor.Statistics;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TransferQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests the log of a LoggingResourceAdaptor, reading it and replaying it. */
class AllocationTraceTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void eachAllocationAndFreeIsALine() throws IOException {
    StringWriter log = new StringWriter();
    LimitingResourceAdaptor limited = new LimitingResourceAdaptor(device.memory(), 100);
    AtomicLong clock = new AtomicLong(1_000);
    long thread = Thread.currentThread().getId();
    String address;
    try (LoggingResourceAdaptor logged =
            new LoggingResourceAdaptor(limited, log, () -> clock.getAndAdd(500));
        DeviceStream other = device.device().createStream()) {
      long first = logged.allocate(40, device.stream());
      assertThatThrownBy(() -> logged.allocate(200, other))
          .isInstanceOf(GpuOutOfMemoryException.class);
      logged.free(first, 40, device.stream());
      address = Long.toHexString(first);
    }
    assertThat(log.toString().lines())
        .containsExactly(
            "thread,time_nanos,action,address,bytes,stream",
            thread + ",1000,allocate,0x" + address + ",40,0",
            thread + ",1500,allocate failure,0x0,200,1",
            thread + ",2000,free,0x" + address + ",40,0");
  }

  @Test
  void aLogThatCannotBeWrittenFailsWhenItIsClosedAlone() {
    Writer full =
        new Writer() {
          @Override
          public void write(char[] text, int offset, int length) throws IOException {
            throw new IOException("no space left");
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    LoggingResourceAdaptor logged = new LoggingResourceAdaptor(device.memory(), full, () -> 0);
    long address = logged.allocate(40, device.stream());
    assertThatThrownBy(logged::close).isInstanceOf(IOException.class).hasMessage("no space left");
    logged.free(address, 40, device.stream());
  }

  @Test
  void aTraceKeepsTheOrderAtEachAddress() throws IOException {
    AllocationTrace trace =
        parse(
            "7,0,allocate,0xa,10,0",
            "8,1,allocate,0xb,20,1",
            "8,2,free,0xa,10,0",
            "7,3,allocate failure,0x0,99,0",
            "7,4,allocate,0x0,0,0",
            "7,5,allocate,0xa,30,0");
    assertThat(trace.eventsByThread())
        .containsExactly(
            List.of(new Event(0, true, 0, 10, 0, -1), new Event(3, true, 2, 30, 0, 2)),
            List.of(new Event(1, true, 1, 20, 1, -1), new Event(2, false, 0, 10, 0, 0)));
    assertThat(trace.streamCount()).isEqualTo(2);
    assertThat(trace.eventCount()).isEqualTo(4);
  }

  @Test
  void whatIsNoTraceIsRefusedWithItsLine() {
    assertRefused("line 2: no such action: move", "1,0,move,0xa,10,0");
    assertRefused("line 3: 0xa is allocated twice", "1,0,allocate,0xa,1,0", "1,0,allocate,0xa,1,0");
    assertRefused("line 2: 1 bytes are not allocated at 0xa", "1,0,free,0xa,1,0");
    assertRefused(
        "line 3: 2 bytes are not allocated at 0xa", "1,0,allocate,0xa,1,0", "1,0,free,0xa,2,0");
    assertRefused("line 2: Index 3 out of bounds for length 3", "1,0,allocate");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> AllocationTrace.read(new StringReader("")));
  }

  private static void assertRefused(String message, String... lines) {
    assertThatIllegalArgumentException().isThrownBy(() -> parse(lines)).withMessage(message);
  }

  private static AllocationTrace parse(String... lines) throws IOException {
    return AllocationTrace.read(
        new StringReader(LoggingResourceAdaptor.HEADER + "\n" + String.join("\n", lines)));
  }

  @Test
  void aPartitionRunOfTwoThreadsIsRepeated(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("partition.csv");
    Statistics run;
    try (LoggingResourceAdaptor logged =
        new LoggingResourceAdaptor(device.memory(), file, System::nanoTime)) {
      StatisticsResourceAdaptor counted = new StatisticsResourceAdaptor(logged);
      partition(counted);
      run = counted.statistics();
    }
    try (Reader reader = Files.newBufferedReader(file)) {
      AllocationTrace trace = AllocationTrace.read(reader);
      assertThat(trace.eventsByThread()).hasSize(3);
      assertThat(trace.streamCount()).isEqualTo(2);
      assertRepeats(trace, run.totalBytes(), 2);
    }
  }

  // Two threads partition and hand their results to a third one, which frees them.
  private void partition(MemoryResource memory) throws Exception {
    int batches = 6;
    TransferQueue<PartitionedTable> results = new LinkedTransferQueue<>();
    ExecutorService executor = Executors.newFixedThreadPool(3);
    List<Callable<Void>> tasks = new ArrayList<>();
    Schema schema =
        Schema.of(
            Field.of("key", DataType.INT64),
            Field.of("price", DataType.decimal(18, 2)),
            Field.of("name", DataType.STRING));
    List<Table> inputs = new ArrayList<>();
    List<DeviceStream> streams = new ArrayList<>();
    for (int thread = 0; thread < 2; thread++) {
      Random rows = new Random(random.seed() + thread);
      Table input = new RandomTables(rows, 0.1).generate(schema, 500 + rows.nextInt(500), device);
      DeviceStream stream = device.device().createStream();
      inputs.add(input);
      streams.add(stream);
      tasks.add(() -> partition(input, batches, stream, memory, results));
    }
    tasks.add(() -> closeAll(2 * batches, results));
    for (Future<Void> done : executor.invokeAll(tasks)) {
      done.get();
    }
    executor.shutdown();
    inputs.forEach(Table::close);
    streams.forEach(DeviceStream::close);
  }

  private static Void partition(
      Table input,
      int batches,
      DeviceStream stream,
      MemoryResource memory,
      TransferQueue<PartitionedTable> results)
      throws InterruptedException {
    for (int batch = 0; batch < batches; batch++) {
      try (Table rows = input.slice(0, input.rowCount() - 50 * batch)) {
        results.transfer(
            HashPartition.hashPartition(
                rows, List.of(0), 8, HashFunction.MURMUR3_32, stream, memory));
      }
    }
    return null;
  }

  private static Void closeAll(int count, TransferQueue<PartitionedTable> results)
      throws InterruptedException {
    for (int i = 0; i < count; i++) {
      results.take().close();
    }
    return null;
  }

  @Test
  void theShippedTraceIsRepeated() throws Exception {
    try (Reader reader =
        new InputStreamReader(
            AllocationTraceTest.class.getResourceAsStream("partition.csv"),
            StandardCharsets.UTF_8)) {
      AllocationTrace trace = AllocationTrace.read(reader);
      assertThat(trace.eventsByThread()).hasSize(3);
      long bytes = trace.allocations().stream().mapToLong(Event::bytes).sum();
      assertRepeats(trace, bytes, 3);
    }
  }

  private void assertRepeats(AllocationTrace trace, long bytes, int runs) throws Exception {
    StatisticsResourceAdaptor counted = new StatisticsResourceAdaptor(device.memory());
    try (AllocationReplay replay = new AllocationReplay(trace, counted)) {
      for (int run = 0; run < runs; run++) {
        replay.run();
      }
    }
    Statistics all = counted.statistics();
    assertThat(all.heldBytes()).isZero();
    assertThat(all.totalBytes()).isEqualTo(runs * bytes);
    assertThat(all.totalAllocations()).isEqualTo(runs * (long) trace.allocations().size());
  }

  @Test
  void aReplayThatFailsHoldsNothing() throws Exception {
    AllocationTrace trace =
        parse(
            "1,0,allocate,0xa,10,0",
            "2,1,allocate,0xb,20,0",
            "2,2,free,0xa,10,0",
            "1,3,free,0xb,20,0",
            "1,4,allocate,0xc,30,0");
    MemoryResource failing =
        new FailingResourceAdaptor(device.memory(), (number, bytes) -> bytes == 20);
    try (AllocationReplay replay = new AllocationReplay(trace, failing)) {
      assertThatThrownBy(replay::run)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(GpuOutOfMemoryException.class);
    }
  }
}
