// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DeferredRowCount;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeferredDevice;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.KernelArguments;
import io.millrace.expression.Expression;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.CudaAsyncMemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.memory.resource.TrackingResourceAdaptor;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Memory sizes of generated kernels, for tables on a device that only executes when it is waited
 * for.
 */
class CalcInputsTest {
  private static final InputPath WORD = new InputPath(0, List.of());
  private static final RowSizeLimit COPY = new RowSizeLimit(0, Map.of(WORD, 1L));
  private static final RowSizeLimit TRIPLE = new RowSizeLimit(10, Map.of(WORD, 3L));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final DeferredDevice deferred = new DeferredDevice();
  private final DeviceStream stream = deferred.createStream();
  private final TrackingResourceAdaptor memory =
      new TrackingResourceAdaptor(new CudaAsyncMemoryResource(deferred));
  private final List<Buffer> temporary = new ArrayList<>();

  @AfterEach
  void close() {
    temporary.forEach(Buffer::close);
    stream.close();
    assertThat(memory.heldBytes()).isZero();
    assertThat(deferred.stagingPool().heldBytes()).isZero();
  }

  /** Rows of 1, 20, 300 and 4000 bytes. */
  private Table words() {
    try (Table host =
        new TableBuilder()
            .column("word", DataType.STRING, "a", "b".repeat(20), "c".repeat(300), "d".repeat(4000))
            .buildOnHost(device)) {
      Table table = host.copyTo(memory, stream, stream);
      stream.synchronize();
      return table;
    }
  }

  private Table withDeferredRowCount(Table table, int rows) {
    DeferredRowCount count = new DeferredRowCount(table.rowCount(), stream, memory);
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.fill(count.deviceCount().access(AccessMode.WRITE, scope), (byte) 0, Integer.BYTES);
      stream.fill(count.hostAddress(), (byte) 0, Integer.BYTES);
      stream.fill(count.hostAddress(), (byte) rows, 1);
    }
    count.written();
    return new Table(table.schema(), List.of(table.column(0).share()), count);
  }

  private CalcInputs.Size size(Table table, RowSizeLimit bound) {
    try (AccessScope scope = AccessScope.on(stream)) {
      return new CalcInputs(program(col("word")), table, scope).size(bound);
    }
  }

  @Test
  void theSizeOfAWholeTableFollowsFromItsBuffersWithoutWaiting() {
    try (Table table = words();
        Table counted = withDeferredRowCount(table, 2);
        DeviceEvent last = stream.recordEvent()) {
      assertThat(size(table, TRIPLE))
          .isEqualTo(new CalcInputs.Size(3 * 4321 + 4 * 10, 3 * 4321 + 10, 0));
      assertThat(size(counted, COPY).bytes()).isEqualTo(4321);
      assertThat(last.isReached()).isFalse();
    }
  }

  @Test
  void theSizeOfASliceCountsItsRowsOnly() {
    try (Table table = words();
        Table first = table.slice(0, 2);
        Table middle = table.slice(1, 2);
        Table none = table.slice(3, 0)) {
      assertThat(size(first, TRIPLE)).isEqualTo(new CalcInputs.Size(3 * 21 + 20, 3 * 21 + 10, 0));
      assertThat(size(middle, TRIPLE))
          .isEqualTo(new CalcInputs.Size(3 * 320 + 20, 3 * 320 + 10, 3));
      assertThat(size(none, TRIPLE)).isEqualTo(new CalcInputs.Size(0, 0, 3 * 321));
    }
  }

  @Test
  void ifBuffersAreTooLargeTheRowsOnTheDeviceAreMeasured() {
    RowSizeLimit large = new RowSizeLimit(1 << 20, Map.of(WORD, 1L << 20));
    try (Table table = words();
        Table counted = withDeferredRowCount(table, 2)) {
      assertThat(size(counted, large)).isEqualTo(new CalcInputs.Size(23L << 20, 22L << 20, 0));
      assertThat(size(table, large).bytes()).isEqualTo(4325L << 20);
    }
  }

  @Test
  void outputsAndScratchOfASliceFitItsRows() {
    CalcProgram program = program(call("REPEAT", col("word"), 3));
    try (Table table = words();
        Table slice = table.slice(1, 2)) {
      assertThat(outputBytes(program, slice)).isEqualTo(3 * 320);
      assertThat(temporary).extracting(Buffer::size).contains(3L * 320);
    }
  }

  @Test
  void scratchMayBeLargerThanAColumn() {
    String text = "e".repeat(4000);
    CalcProgram program = program(call("CHAR_LENGTH", call("CONCAT", col("word"), text)));
    Object[] none = new Object[600_000];
    try (Table host = new TableBuilder().column("word", DataType.STRING, none).buildOnHost(device);
        Table table = host.copyTo(memory, stream, stream)) {
      stream.synchronize();
      MemoryResource small =
          new FailingResourceAdaptor(memory, (number, bytes) -> bytes > Integer.MAX_VALUE);
      assertThatThrownBy(() -> outputBytes(program, table, small))
          .isInstanceOf(GpuOutOfMemoryException.class)
          .hasMessageContaining("2400000000 bytes")
          .hasMessageContaining("injected");
    }
  }

  @Test
  void resultsThatMayExceedAColumnOrAValueAreRefusedToCauseASplit() {
    Expression large = col("word");
    for (int i = 0; i < 4; i++) {
      large = call("REPEAT", large, 64);
    }
    Expression endless = large;
    for (int i = 0; i < 20; i++) {
      endless = call("REPEAT", endless, 64);
    }
    try (Table table = words();
        Table slice = table.slice(0, 1)) {
      assertRefused(
          program(large),
          table,
          "expected at most 2 GiB of bytes in a column, got up to 72494350336 bytes");
      assertThat(size(slice, RowSizeLimit.of(typed(large))).bytes()).isEqualTo(1 << 24);
      assertRefused(
          program(call("CHAR_LENGTH", large)),
          table,
          "expected at most 2 GiB of bytes in a value, got up to 72494350336 bytes");
      assertRefused(
          program(endless),
          table,
          "expected at most 2 GiB of bytes in a column, got up to 1125899906842624 bytes");
    }
  }

  private void assertRefused(CalcProgram program, Table table, String message) {
    assertThatThrownBy(() -> outputBytes(program, table))
        .isInstanceOf(GpuOutOfMemoryException.class)
        .hasMessageStartingWith(message);
  }

  /** Number of bytes allocated for the strings of the only output, without temporary memory. */
  private long outputBytes(CalcProgram program, Table table) {
    return outputBytes(program, table, memory);
  }

  private long outputBytes(CalcProgram program, Table table, MemoryResource resource) {
    List<Column> columns = new ArrayList<>();
    try (AccessScope scope = AccessScope.on(stream);
        KernelArguments arguments = new KernelArguments(program.argumentBytes())) {
      CalcOutputs allocated = new CalcOutputs(program, table, scope, resource, temporary, 100);
      allocated.putInputs(arguments);
      allocated.allocateOutputs(arguments, columns);
      allocated.putControl(arguments);
      return columns.get(0).data().orElseThrow().size();
    } finally {
      columns.forEach(Column::close);
    }
  }

  private static CalcProgram program(Expression projection) {
    return CalcProgramWriter.write(null, List.of(typed(projection)), true, PtxLibrary.builtIn());
  }

  private static TypedExpression typed(Expression projection) {
    return new ExpressionResolver(
            Schema.of(DataType.Field.of("word", DataType.STRING)), ResolutionContext.DEFAULT)
        .resolve(projection);
  }
}
