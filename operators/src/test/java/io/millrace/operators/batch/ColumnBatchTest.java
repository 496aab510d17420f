// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.memory.Buffer;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.testing.NothingHeldExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NothingHeldExtension.class)
class ColumnBatchTest {
  private static final Schema SCHEMA = Schema.of(new Field("id", DataType.INT64, false));

  private final Device device = Device.current();
  private final DeviceContext context = DeviceContext.open(device);

  @AfterEach
  void close() {
    context.close();
  }

  private Table table(int rows) {
    Buffer data = Buffer.allocate(8L * rows, context.stream(), context.resource());
    return new Table(
        SCHEMA, List.of(new Column(DataType.INT64, rows, 0, data, null, List.of())), rows);
  }

  @Test
  void theLastReleaseClosesTheTable() {
    ColumnBatch batch = new ColumnBatch(table(4));
    assertThat(batch.retain()).isSameAs(batch);
    batch.release();
    assertThat(batch.rowCount()).isEqualTo(4);
    assertThat(DeviceContext.heldBytes(device)).isEqualTo(32);
    batch.release();
    assertThat(DeviceContext.heldBytes(device)).isZero();
  }

  @Test
  void aReleasedBatchCannotBeUsed() {
    ColumnBatch batch = new ColumnBatch(table(1));
    batch.release();
    assertThatThrownBy(batch::release)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("(id BIGINT NOT NULL)[1]");
    assertThatThrownBy(batch::retain).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(batch::table).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(batch::rowCount).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void anExchangeRoutesABatchByTargetOrByKeyGroup() {
    ColumnBatch plain = new ColumnBatch(table(1));
    ColumnBatch forTarget = ColumnBatch.forTarget(table(1), 3);
    ColumnBatch ofKeyGroup = ColumnBatch.ofKeyGroup(table(1), 7);
    List<ColumnBatch> batches = List.of(plain, forTarget, ofKeyGroup);
    assertThat(batches).extracting(ColumnBatch::target).containsExactly(-1, 3, -1);
    assertThat(batches).extracting(ColumnBatch::keyGroup).containsExactly(-1, -1, 7);
    batches.forEach(ColumnBatch::release);
  }

  @Test
  void eventTimesAreHiddenInItsTable() {
    ColumnBatch batch;
    try (Table plain = table(4);
        Table times = table(4)) {
      batch = new ColumnBatch(EventTimeColumn.addTo(plain, times.column(0).share()));
    }
    assertThat(batch.table().schema()).isEqualTo(SCHEMA);
    assertThat(batch.table()).isSameAs(batch.table());
    assertThat(batch.tableWithEventTimes().schema()).isEqualTo(EventTimeColumn.addTo(SCHEMA));
    batch.release();
    assertThat(DeviceContext.heldBytes(device)).isZero();
    assertThatThrownBy(batch::tableWithEventTimes).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void manyThreadsReleaseOnce() throws Exception {
    int threads = 4;
    int rounds = 2_000;
    ColumnBatch batch = new ColumnBatch(table(8));
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    CountDownLatch start = new CountDownLatch(1);
    List<Future<?>> futures = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      batch.retain();
      futures.add(
          executor.submit(
              () -> {
                start.await();
                for (int round = 0; round < rounds; round++) {
                  batch.retain().release();
                }
                batch.release();
                return null;
              }));
    }
    start.countDown();
    for (Future<?> future : futures) {
      future.get();
    }
    executor.shutdown();
    assertThat(batch.rowCount()).isEqualTo(8);
    batch.release();
  }
}
