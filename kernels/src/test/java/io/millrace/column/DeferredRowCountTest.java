// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.DeferredDevice;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.CudaAsyncMemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.TrackingResourceAdaptor;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tables whose row count is known late, on a device that runs its work when it is waited for. */
class DeferredRowCountTest {
  private static final int UPPER_BOUND = 5;

  private final DeferredDevice device = new DeferredDevice();
  private final TrackingResourceAdaptor memory =
      new TrackingResourceAdaptor(new CudaAsyncMemoryResource(device));
  private final TrackingResourceAdaptor hostMemory =
      new TrackingResourceAdaptor(HostMemoryResource.INSTANCE);
  private final DeviceStream stream = device.createStream();
  private final DeviceStream hostStream = HostDevice.INSTANCE.createStream();
  private final long source = device.allocate(Integer.BYTES);

  @AfterEach
  void close() {
    stream.close();
    device.free(source);
    assertThat(memory.heldBytes()).isZero();
    assertThat(hostMemory.heldBytes()).isZero();
    assertThat(device.stagingPool().heldBytes()).isZero();
  }

  /** A count that work on the stream sets to {@code rows}. */
  private DeferredRowCount count(int rows) {
    DeferredRowCount count = new DeferredRowCount(UPPER_BOUND, stream, memory);
    HostMemory.putInt(source, rows);
    try (AccessScope scope = AccessScope.on(stream)) {
      long deviceAddress = count.deviceCount().access(AccessMode.WRITE, scope);
      stream.copy(deviceAddress, source, Integer.BYTES);
      stream.copy(count.hostAddress(), source, Integer.BYTES);
    }
    count.written();
    return count;
  }

  private Table table(int rows) {
    try (Table host =
        new TableBuilder()
            .column("id", DataType.INT64, 1, 2, 3, 4, 5)
            .column("name", DataType.STRING, "one", null, "three", "four", null)
            .buildOnHost(hostStream, hostMemory)) {
      List<Column> columns =
          host.columns().stream().map(column -> column.copyTo(memory, stream, stream)).toList();
      return new Table(host.schema(), columns, count(rows));
    }
  }

  private String rows(Table table) {
    try (Table host = table.copyTo(hostMemory, hostStream, stream)) {
      stream.synchronize();
      return TableRows.ofHost(host, hostStream).toString();
    }
  }

  @Test
  void aTableHasTheRowsThatTheDeviceCounted() {
    for (int rows = 0; rows <= UPPER_BOUND; rows++) {
      try (Table table = table(rows)) {
        assertThat(table.rowCountUpperBound()).isEqualTo(UPPER_BOUND);
        assertThat(table.rowCount()).isEqualTo(rows);
        assertThat(table.columns()).hasSize(2).extracting(Column::size).containsOnly(rows);
        assertThat(table.accessor().columns()).isEqualTo(table.columns());
      }
    }
    try (Table table = table(3)) {
      assertThat(rows(table)).isEqualTo("[[1, one], [2, null], [3, three]]");
    }
  }

  @Test
  void whatNeedsNoRowCountNeverWaits() {
    try (Table table = table(2);
        Table shared = table.share();
        Table selected = shared.select(List.of("name"));
        Table copied = selected.shallowCopy(stream);
        Table deepCopied = copied.deepCopy(stream)) {
      for (Table any : List.of(table, shared, selected, copied, deepCopied)) {
        assertThat(any.isRowCountKnown()).isFalse();
        assertThat(any.rowCountUpperBound()).isEqualTo(UPPER_BOUND);
        assertThat(any.upperBoundColumns()).extracting(Column::size).containsOnly(UPPER_BOUND);
        assertThat(any.toString()).endsWith("[<= 5]");
      }
      assertThat(table.sizeInBytes()).isPositive().isLessThan(memory.heldBytes());
      assertThat(table.isRowCountKnown()).isFalse();
      assertThat(rows(deepCopied)).isEqualTo("[[one], [null]]");
      assertThat(table.isRowCountKnown()).isTrue();
      assertThat(table.rowCount()).isEqualTo(2);
      assertThat(table.columns()).extracting(Column::size).containsOnly(2);
      assertThat(table).hasToString(table.schema() + "[2]");
    }
  }

  @Test
  void aCountThatIsReachedNeedsNoWaiting() {
    try (Table table = table(4)) {
      stream.synchronize();
      assertThat(table.isRowCountKnown()).isTrue();
    }
  }

  @Test
  void whatNeedsTheRowCountWaitsForIt() {
    List<Consumer<Table>> uses =
        List.of(
            table -> assertThat(table.column(0).size()).isEqualTo(3),
            table -> assertThat(table.column("name").size()).isEqualTo(3),
            table -> assertSlices(List.of(table.slice(1, 2)), "[[2, null], [3, three]]"),
            table -> assertSlices(table.halves(), "[[1, one]]", "[[2, null], [3, three]]"),
            table ->
                assertThatThrownBy(() -> table.slice(1, 3))
                    .isInstanceOf(IndexOutOfBoundsException.class));
    for (Consumer<Table> use : uses) {
      try (Table table = table(3)) {
        use.accept(table);
        assertThat(table.isRowCountKnown()).isTrue();
      }
    }
  }

  private void assertSlices(List<Table> slices, String... rows) {
    assertThat(slices.stream().map(this::rows)).containsExactly(rows);
    slices.forEach(Table::close);
  }

  @Test
  void fewerThanTwoRowsHaveNoHalves() {
    try (Table table = table(1)) {
      assertThat(table.halves()).isEmpty();
    }
  }

  @Test
  void narrowedColumnsShareTheBuffersOfTheTable() {
    try (Table table = table(3)) {
      long held = memory.heldBytes();
      assertThat(table.column(0).data()).isEqualTo(table.upperBoundColumns().get(0).data());
      assertThat(table.column(0).data().orElseThrow().liveSlices()).isEqualTo(1);
      assertThat(memory.heldBytes()).isEqualTo(held);
    }
  }

  @Test
  void nullsAreCountedAmongTheRowsAlone() {
    try (Table table = table(3)) {
      assertThat(table.upperBoundColumns().get(1).nullCount(stream)).isEqualTo(2);
      assertThat(table.column("id").isNullCountKnown()).isTrue();
      assertThat(table.column("name").nullCount(stream)).isEqualTo(1);
    }
  }

  @Test
  void laterWorkReadsTheCountOnTheDevice() {
    long target = device.allocate(Integer.BYTES);
    try (Table table = table(4);
        DeviceStream reader = device.createStream()) {
      try (AccessScope scope = AccessScope.on(reader)) {
        long address = table.deviceRowCount().orElseThrow().access(AccessMode.READ, scope);
        reader.copy(target, address, Integer.BYTES);
      }
      assertThat(table.isRowCountKnown()).isFalse();
      reader.synchronize();
      assertThat(HostMemory.getInt(target)).isEqualTo(4);
    } finally {
      device.free(target);
    }
  }

  @Test
  void theHostWordIsLentAgainOnlyBehindTheWorkThatWritesIt() {
    Table table = table(2);
    Table shared = table.share();
    long word = device.stagingPool().heldBytes();
    table.close();
    assertThat(shared.isRowCountKnown()).isFalse();
    shared.close();
    assertThat(device.stagingPool().heldBytes()).isEqualTo(word).isPositive();
    stream.synchronize();
    assertThat(device.stagingPool().heldBytes()).isZero();
  }

  @Test
  void aCountThatNoWorkWritesIsGivenBack() {
    DeferredRowCount count = new DeferredRowCount(UPPER_BOUND, stream, memory);
    assertThatIllegalStateException()
        .isThrownBy(count::get)
        .withMessage("no work was announced to write the row count");
    count.close();
  }

  @Test
  void aCountOutsideItsBoundsIsRefused() {
    for (int rows : new int[] {-1, UPPER_BOUND + 1}) {
      try (Table table = table(rows)) {
        assertThatIllegalStateException()
            .isThrownBy(table::rowCount)
            .withMessage("the device counted " + rows + " of 5 rows");
      }
    }
  }

  @Test
  void columnsMustHaveTheUpperBoundsSize() {
    try (Table table = table(2);
        DeferredRowCount count = count(2)) {
      List<Column> columns = table.columns();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new Table(table.schema(), columns, count))
          .withMessage("expected BIGINT[5] for column 'id', got BIGINT[2]");
    }
  }
}
