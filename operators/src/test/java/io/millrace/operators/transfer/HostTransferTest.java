// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeferredDevice;
import io.millrace.device.DeviceEvent;
import io.millrace.device.HostDevice;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HostTransferTest {
  private static final Schema SCHEMA = Schema.of(new Field("id", DataType.INT64, false));

  private final DeferredDevice device = new DeferredDevice();

  private Table hostTable(DeviceContext context, Runnable release) {
    long address = HostDevice.INSTANCE.allocate(8);
    Buffer data =
        Buffer.wrap(
            address,
            8,
            context.hostStream(),
            HostMemoryResource.INSTANCE,
            () -> {
              HostDevice.INSTANCE.free(address);
              release.run();
            });
    return new Table(SCHEMA, List.of(new Column(DataType.INT64, 1, 0, data, null, List.of())), 1);
  }

  @Test
  void aTableIsFreedAlsoIfTheOneBeforeItFails() {
    AtomicInteger freed = new AtomicInteger();
    try (DeviceContext context = DeviceContext.open(device);
        HostTransfer transfer = new HostTransfer(context)) {
      Table failing =
          hostTable(
              context,
              () -> {
                throw new IllegalStateException("the release failed");
              });
      Table next = hostTable(context, freed::incrementAndGet);
      transfer.upload(failing).close();
      transfer.upload(hostTable(context, freed::incrementAndGet)).close();
      assertThatIllegalStateException()
          .isThrownBy(() -> transfer.upload(next))
          .withMessage("the release failed");
    }
    assertThat(freed).hasValue(2);
    assertThat(DeviceContext.heldBytes(device)).isZero();
  }

  @Test
  void anUploadRunsBesideTheWorkOnTheTableBefore() {
    try (DeviceContext context = DeviceContext.open(device);
        HostTransfer transfer = new HostTransfer(context)) {
      DeviceEvent firstDone = workOn(transfer.upload(hostTable(context, () -> {})), context);
      DeviceEvent secondDone = workOn(transfer.upload(hostTable(context, () -> {})), context);
      context.uploadStream().synchronize();
      assertThat(firstDone.isReached()).isFalse();

      transfer.upload(hostTable(context, () -> {})).close();
      context.uploadStream().synchronize();
      assertThat(firstDone.isReached()).as("its memory is free for the third table").isTrue();
      assertThat(secondDone.isReached()).isFalse();
    }
    assertThat(DeviceContext.heldBytes(device)).isZero();
  }

  @Test
  void workOnATableWaitsForItsUploadAndNotForTheNext() {
    try (DeviceContext context = DeviceContext.open(device);
        HostTransfer transfer = new HostTransfer(context)) {
      Table first = transfer.upload(hostTable(context, () -> {}));
      Table second = transfer.upload(hostTable(context, () -> {}));
      DeviceEvent secondUploaded = context.uploadStream().recordEvent();
      DeviceEvent firstDone = workOn(first, context);
      firstDone.synchronize();
      assertThat(secondUploaded.isReached()).isFalse();
      second.close();
    }
  }

  @Test
  void aTableIsHeldNoLongerThanTheWorkOnIt() {
    AtomicInteger freed = new AtomicInteger();
    try (DeviceContext context = DeviceContext.open(device);
        HostTransfer transfer = new HostTransfer(context)) {
      workOn(transfer.upload(hostTable(context, freed::incrementAndGet)), context);
      workOn(transfer.upload(hostTable(context, freed::incrementAndGet)), context);
      context.stream().synchronize();
      transfer.upload(hostTable(context, () -> {})).close();
      assertThat(freed).hasValue(1);
    }
  }

  /**
   * Work on {@code table}, which this closes, on the chain's stream; reaches the event at its end.
   */
  private DeviceEvent workOn(Table table, DeviceContext context) {
    try (table;
        AccessScope scope = AccessScope.on(context.stream())) {
      long address = table.column(0).data().orElseThrow().access(AccessMode.READ, scope);
      context.stream().copy(address, address, 8);
      return context.stream().recordEvent();
    }
  }

  // On the host, which is the device of the other tests, tables stay where they are.
  @OutOfMemoryTest(attempts = 3)
  void aTableThatDoesNotFitIsMovedInParts() {
    List<List<Object>> rows = List.of(List.of(1L), List.of(2L), List.of(3L));
    List<List<Object>> moved = new ArrayList<>();
    try (DeviceContext context = DeviceContext.open(device);
        HostTransfer transfer = new HostTransfer(context)) {
      Table table =
          TableBuilder.ofRows(SCHEMA, rows)
              .buildOnHost(context.hostStream(), HostMemoryResource.INSTANCE);
      transfer.toDevice(table, part -> moved.addAll(rowsOf(part, context)));
    }
    assertThat(moved).isEqualTo(rows);
    assertThat(DeviceContext.heldBytes(device)).isZero();
  }

  private static List<List<Object>> rowsOf(Table table, DeviceContext context) {
    try (table;
        Table host =
            table.copyTo(HostMemoryResource.INSTANCE, context.hostStream(), context.stream())) {
      return TableRows.ofHost(host, context.hostStream());
    }
  }
}
