// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.column.Column;
import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.PinnedStagingPool;
import io.millrace.device.StagingBuffer;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.host.HostEvaluator;
import io.millrace.expression.typed.RowNumber;
import io.millrace.expression.typed.Substitution;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.BatchContext;
import io.millrace.expression.vector.HostVector;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Evaluates the rows that a device left to the host, and merges the results with the device's rows
 * in input order. Waits for the device.
 */
final class RowsForHost implements AutoCloseable {
  private static final MemoryResource HOST = HostMemoryResource.INSTANCE;

  private final BitSet rows;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final DeviceStream hostStream = HOST.device().createStream();

  /**
   * @param rows input positions of the rows, at least one
   * @param stream stream of the device
   * @param memory memory of the device
   */
  RowsForHost(BitSet rows, DeviceStream stream, MemoryResource memory) {
    this.rows = rows;
    this.stream = stream;
    this.memory = memory;
  }

  /**
   * Evaluates these rows of {@code input}.
   *
   * @param condition null for no filter
   * @param computed expressions in which a {@link RowNumber} is the input position of the row
   * @param schema schema of the computed columns
   * @return a table in host memory, which the caller closes
   * @throws EvaluationException for the first row that fails, with its input position
   */
  Table evaluate(
      Table input,
      BatchContext batch,
      TypedExpression condition,
      List<TypedExpression> computed,
      Schema schema) {
    List<Integer> used = inputs(condition, computed);
    TypedExpression numbers = new TypedExpression.InputReference(0, "row", DataType.INT32, false);
    Substitution narrowing = new Substitution(narrowed(input.schema(), used), numbers);
    List<TypedExpression> expressions = narrowing.all(computed);
    try (Table hostRows = gather(input, used);
        AccessScope scope = AccessScope.on(hostStream)) {
      TypedExpression filter = condition == null ? null : narrowing.apply(condition);
      int capacity = Math.min(HostVector.CAPACITY, hostRows.rowCount());
      return new HostEvaluator(filter, expressions, capacity)
          .evaluate(hostRows, batch, schema, scope, HOST);
    } catch (EvaluationException e) {
      throw e.behind(nth(e.row()) - e.row());
    }
  }

  private int nth(int index) {
    return rows.stream().skip(index).findFirst().orElseThrow();
  }

  /** Indexes of the input columns that are read. */
  private static List<Integer> inputs(
      TypedExpression condition, List<TypedExpression> expressions) {
    List<TypedExpression> roots =
        Stream.concat(Stream.ofNullable(condition), expressions.stream()).toList();
    return TypedExpression.nodes(roots).stream()
        .filter(TypedExpression.InputReference.class::isInstance)
        .map(node -> ((TypedExpression.InputReference) node).index())
        .distinct()
        .sorted()
        .toList();
  }

  /**
   * References from input columns to the gathered columns, which follow the row numbers; null for
   * unused columns.
   */
  private static List<TypedExpression> narrowed(Schema schema, List<Integer> used) {
    return IntStream.range(0, schema.size())
        .<TypedExpression>mapToObj(
            i -> {
              Field field = schema.field(i);
              return new TypedExpression.InputReference(
                  1 + used.indexOf(i), field.name(), field.type(), field.nullable());
            })
        .toList();
  }

  /** Copies the row numbers and the used columns of these rows to host memory. */
  private Table gather(Table input, List<Integer> used) {
    Schema schema = input.schema();
    try (Column numbers = numbers();
        Column map = numbers.copyTo(memory, stream, stream);
        Table selected =
            input.select(used.stream().map(index -> schema.field(index).name()).toList());
        Table gathered = Gather.gatherRepeated(selected, map, stream, memory);
        Table copy = gathered.copyTo(HOST, hostStream, stream)) {
      List<Field> fields = new ArrayList<>(List.of(new Field("0", DataType.INT32, false)));
      List<Column> columns = new ArrayList<>(List.of(numbers.share()));
      for (Field field : copy.schema().fields()) {
        columns.add(copy.column(field.name()).share());
        fields.add(new Field(String.valueOf(fields.size()), field.type(), field.nullable()));
      }
      return new Table(new Schema(fields), columns, numbers.size());
    }
  }

  private Column numbers() {
    try (FixedWidthColumnBuilder builder =
        (FixedWidthColumnBuilder) ColumnBuilder.of(DataType.INT32, hostStream, HOST)) {
      rows.stream().forEach(builder::appendInt);
      return builder.finish();
    }
  }

  /**
   * Merges both results in input order, on the device. The results still belong to the caller.
   *
   * @param numbered true if the last column of both results is the input position of each row;
   *     false if the device's result has all input rows and the host's result has all rows for the
   *     host
   */
  Table merge(Table deviceResult, Table hostResult, boolean numbered) {
    try (AppendedRows appended = new AppendedRows(deviceResult, hostResult, stream, memory);
        Column map = order(deviceResult, hostResult, numbered, appended.firstAppended())) {
      Table merged = Gather.gather(appended.table(), map, stream, memory);
      // The device has finished reading memory that is on the host.
      stream.synchronize();
      return merged;
    }
  }

  /**
   * The gather map of the merged rows, on the device; omits rows of the device's result that were
   * left to the host. The map is written to pinned memory, from which copies are several times
   * faster.
   */
  private Column order(Table deviceResult, Table hostResult, boolean numbered, int firstAppended) {
    long most = (long) deviceResult.rowCount() + hostResult.rowCount();
    PinnedStagingPool staging = stream.device().stagingPool();
    try (StagingBuffer order = staging.acquire(most * Integer.BYTES)) {
      int rowCount =
          numbered
              ? mergeByNumber(deviceResult, hostResult, firstAppended, order.address())
              : replace(deviceResult.rowCount(), firstAppended, order.address());
      Buffer map = Buffer.copyOf(order.address(), (long) rowCount * Integer.BYTES, stream, memory);
      try (DeviceEvent copied = stream.recordEvent()) {
        order.closeAfter(copied);
      }
      return new Column(DataType.INT32, rowCount, 0, map, null, List.of());
    }
  }

  /** Writes the map for a device result with all rows; returns its length. */
  private int replace(int deviceRows, int firstAppended, long order) {
    for (int row = 0; row < deviceRows; row++) {
      HostMemory.putInt(order + (long) row * Integer.BYTES, row);
    }
    int appended = firstAppended;
    for (int row = rows.nextSetBit(0); row >= 0; row = rows.nextSetBit(row + 1)) {
      HostMemory.putInt(order + (long) row * Integer.BYTES, appended++);
    }
    return deviceRows;
  }

  /** Writes the map for results whose last column is the row number; returns its length. */
  private int mergeByNumber(Table deviceResult, Table hostResult, int firstAppended, long order) {
    int last = deviceResult.columnCount() - 1;
    int deviceRows = deviceResult.rowCount();
    int hostRows = hostResult.rowCount();
    long bytes = (long) deviceRows * Integer.BYTES;
    try (StagingBuffer copy = stream.device().stagingPool().acquire(bytes);
        AccessScope deviceScope = AccessScope.on(stream);
        AccessScope hostScope = AccessScope.on(hostStream)) {
      stream.copy(copy.address(), deviceResult.column(last).dataAddress(deviceScope), bytes);
      stream.synchronize();
      long hostNumbers = hostResult.column(last).dataAddress(hostScope);
      long next = order;
      int fromHost = 0;
      for (int i = 0; i < deviceRows; i++) {
        int row = HostMemory.getInt(copy.address() + (long) i * Integer.BYTES);
        while (fromHost < hostRows
            && HostMemory.getInt(hostNumbers + (long) fromHost * Integer.BYTES) <= row) {
          HostMemory.putInt(next, firstAppended + fromHost++);
          next += Integer.BYTES;
        }
        if (!rows.get(row)) {
          HostMemory.putInt(next, i);
          next += Integer.BYTES;
        }
      }
      for (; fromHost < hostRows; fromHost++) {
        HostMemory.putInt(next, firstAppended + fromHost);
        next += Integer.BYTES;
      }
      return (int) ((next - order) / Integer.BYTES);
    }
  }

  @Override
  public void close() {
    hostStream.close();
  }
}
