// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.DeferredRowCount;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeferredDevice;
import io.millrace.device.DeviceEvent;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingRequests;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On a device that does its work as late as it may. */
class DownloadQueueTest {
  private static final Schema SCHEMA = Schema.of(new Field("id", DataType.INT64, false));

  private final DeferredDevice device = new DeferredDevice();
  private final DeviceContext context = DeviceContext.open(device);
  private final List<Object> seen = new ArrayList<>();

  @AfterEach
  void close() {
    StagingRequests.ignore(device.stagingPool());
    context.close();
    assertThat(DeviceContext.heldBytes(device)).isZero();
    assertThat(device.stagingPool().heldBytes()).isZero();
    assertThat(ColumnBatch.liveBatches()).isZero();
  }

  private DownloadQueue queue(int batchesInFlight) {
    return new DownloadQueue(context, batchesInFlight);
  }

  /** A table that the chain's work makes. */
  private Table table(Object... ids) {
    List<List<Object>> rows = Arrays.stream(ids).map(id -> List.of(id)).toList();
    try (Table host =
        TableBuilder.ofRows(SCHEMA, rows)
            .buildOnHost(context.hostStream(), HostMemoryResource.INSTANCE)) {
      return host.copyTo(context.resource(), context.stream(), context.stream());
    }
  }

  private void add(DownloadQueue queue, Table table) {
    ColumnBatch batch = new ColumnBatch(table);
    try {
      queue.add(batch, this::see);
    } finally {
      batch.release();
    }
  }

  private void see(Table host) {
    TableRows.ofHost(host, context.hostStream()).forEach(row -> seen.add(row.get(0)));
  }

  @Test
  void batchesLeaveInOrderWhereTooManyAreOnTheirWay() {
    try (DownloadQueue queue = queue(2)) {
      add(queue, table(1));
      add(queue, table(2));
      assertThat(seen).isEmpty();
      add(queue, table(3));
      assertThat(seen).containsExactly(1L);
      queue.drain();
      assertThat(seen).containsExactly(1L, 2L, 3L);
      assertThat(queue.isEmpty()).isTrue();
    }
  }

  @Test
  void withNoneInFlightEachIsWaitedFor() {
    try (DownloadQueue queue = queue(0)) {
      add(queue, table(1, 2));
      assertThat(seen).containsExactly(1L, 2L);
    }
  }

  @Test
  void aStepStaysBehindTheBatchesBeforeIt() {
    try (DownloadQueue queue = queue(2)) {
      queue.add(() -> seen.add("first"));
      assertThat(seen).containsExactly("first");
      add(queue, table(1));
      queue.add(() -> seen.add("second"));
      add(queue, table(2));
      queue.add(() -> seen.add("third"));
      assertThat(seen).containsExactly("first");
      queue.drain();
      assertThat(seen).containsExactly("first", 1L, "second", 2L, "third");
    }
  }

  @Test
  void batchesThatArrivedLeaveWithoutWaitingForTheRest() {
    try (DownloadQueue queue = queue(3)) {
      add(queue, table(1));
      queue.add(() -> seen.add("step"));
      context.downloadStream().synchronize();
      add(queue, table(2));
      assertThat(seen).containsExactly(1L, "step");
      queue.poll();
      assertThat(seen).hasSize(2);
    }
  }

  @Test
  void aCopyWaitsForTheWorkThatMadeTheTableAndNotForLaterWork() {
    try (DownloadQueue queue = queue(1)) {
      add(queue, table(1));
      try (Table later = table(2);
          DeviceEvent laterWork = context.stream().recordEvent()) {
        context.downloadStream().synchronize();
        queue.poll();
        assertThat(seen).containsExactly(1L);
        assertThat(laterWork.isReached()).isFalse();
        assertThat(later.rowCount()).isEqualTo(1);
      }
    }
  }

  @Test
  void aRowCountIsNotWaitedForBeforeTheBatchIsDue() {
    long source = device.allocate(Integer.BYTES);
    HostMemory.putInt(source, 2);
    try (DownloadQueue queue = queue(2)) {
      add(queue, firstRows(source, table(1, 2, 3)));
      context.downloadStream().synchronize();
      queue.poll();
      assertThat(seen).isEmpty();

      context.stream().synchronize();
      queue.poll();
      context.downloadStream().synchronize();
      queue.poll();
      assertThat(seen).containsExactly(1L, 2L);

      add(queue, firstRows(source, table(4, 5, 6)));
      queue.drain();
      assertThat(seen).containsExactly(1L, 2L, 4L, 5L);
    } finally {
      device.free(source);
    }
  }

  private Table firstRows(long source, Table table) {
    DeferredRowCount count =
        new DeferredRowCount(table.rowCount(), context.stream(), context.resource());
    try (table;
        AccessScope scope = AccessScope.on(context.stream())) {
      long target = count.deviceCount().access(AccessMode.WRITE, scope);
      context.stream().copy(target, source, Integer.BYTES);
      context.stream().copy(count.hostAddress(), source, Integer.BYTES);
      count.written();
      return new Table(table.schema(), table.columns().stream().map(Column::share).toList(), count);
    }
  }

  @Test
  void noMoreIsCopiedOfLargeStringsThanTheRowsUse() {
    long source = device.allocate(Integer.BYTES);
    try (DownloadQueue queue = queue(2)) {
      for (int rows = 0; rows <= 2; rows++) {
        HostMemory.putInt(source, rows);
        add(queue, firstRows(source, texts("a".repeat(700_000), "b".repeat(700_000))));
        List<Long> requests = new ArrayList<>();
        StagingRequests.listen(device.stagingPool(), requests::add);
        queue.drain();
        long largest = requests.stream().mapToLong(bytes -> bytes).max().orElse(0);
        assertThat(largest).isBetween(700_000L * rows, 700_000L * rows + 1_000);
      }
      assertThat(seen)
          .containsExactly("a".repeat(700_000), "a".repeat(700_000), "b".repeat(700_000));
    } finally {
      device.free(source);
    }
  }

  private Table texts(String... texts) {
    try (Table host =
        new TableBuilder()
            .column("text", DataType.STRING, (Object[]) texts)
            .buildOnHost(context.hostStream(), HostMemoryResource.INSTANCE)) {
      return host.copyTo(context.resource(), context.stream(), context.stream());
    }
  }

  @Test
  void aBatchThatDoesNotFitLeavesInPartsBehindTheOnesBeforeIt() {
    try (DownloadQueue queue = queue(3)) {
      add(queue, table(1));
      AtomicInteger requests = new AtomicInteger();
      StagingRequests.listen(
          device.stagingPool(),
          bytes -> {
            if (requests.incrementAndGet() <= 3) {
              throw new GpuOutOfMemoryException("refused");
            }
          });
      add(queue, table(2, 3, 4));
      assertThat(seen).containsExactly(1L, 2L, 3L, 4L);
      assertThat(queue.isEmpty()).isTrue();
      assertThat(context.retry().splits()).isEqualTo(1);
    }
  }

  @Test
  void aBatchWhoseConsumerFailsIsReleasedAndTheOthersStay() {
    try (DownloadQueue queue = queue(1)) {
      ColumnBatch failing = new ColumnBatch(table(1));
      queue.add(
          failing,
          host -> {
            throw new IllegalStateException("no");
          });
      failing.release();
      assertThatIllegalStateException().isThrownBy(() -> add(queue, table(2))).withMessage("no");
      queue.drain();
      assertThat(seen).containsExactly(2L);
    }
  }

  @Test
  void closingDropsWhatIsOnItsWay() {
    DownloadQueue queue = queue(2);
    add(queue, table(1));
    queue.add(() -> seen.add("step"));
    queue.close();
    assertThat(seen).isEmpty();
  }
}
