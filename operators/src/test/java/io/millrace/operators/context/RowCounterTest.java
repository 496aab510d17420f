// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DeferredRowCount;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeferredDevice;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingRequests;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import java.util.List;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On a device that does its work as late as it may. */
class RowCounterTest {
  private static final Schema NO_COLUMNS = new Schema(List.of());
  private static final int UPPER_BOUND = 100;

  private final DeferredDevice device = new DeferredDevice();
  private final DeviceContext context = DeviceContext.open(device);
  private final Counter records = new SimpleCounter();
  private final Counter batches = new SimpleCounter();
  private final RowCounter rows = new RowCounter(List.of(records), batches);

  @AfterEach
  void close() {
    rows.close();
    StagingRequests.ignore(device.stagingPool());
    context.close();
    assertThat(DeviceContext.heldBytes(device)).isZero();
  }

  /** As Flink and the operator do together. */
  private void count(Table table) {
    records.inc();
    try (table) {
      rows.count(table);
    }
  }

  private Table deferred(long source) {
    DeferredRowCount count =
        new DeferredRowCount(UPPER_BOUND, context.stream(), context.resource());
    try (AccessScope scope = AccessScope.on(context.stream())) {
      long target = count.deviceCount().access(AccessMode.WRITE, scope);
      context.stream().copy(target, source, Integer.BYTES);
      context.stream().copy(count.hostAddress(), source, Integer.BYTES);
      count.written();
      return new Table(NO_COLUMNS, List.of(), count);
    }
  }

  private static Table known(int rowCount) {
    return new Table(NO_COLUMNS, List.of(), rowCount);
  }

  @Test
  void rowsThatOnlyTheDeviceKnowsAreCountedWithALaterBatch() {
    long source = device.allocate(Integer.BYTES);
    HostMemory.putInt(source, 7);
    try {
      count(deferred(source));
      count(known(5));
      assertThat(records.getCount()).isEqualTo(1 + 5);
      assertThat(batches.getCount()).isEqualTo(2);
      context.stream().synchronize();
      count(known(0));
      assertThat(records.getCount()).isEqualTo(7 + 5);
      assertThat(batches.getCount()).isEqualTo(3);
    } finally {
      device.free(source);
    }
  }

  @Test
  void closingCountsWhatIsKnownAndWaitsForNothing() {
    long source = device.allocate(Integer.BYTES);
    HostMemory.putInt(source, 7);
    try {
      count(deferred(source));
      context.stream().synchronize();
      count(deferred(source));
      rows.close();
      assertThat(records.getCount()).isEqualTo(7 + 1);
    } finally {
      context.stream().synchronize();
      device.free(source);
    }
  }
}
