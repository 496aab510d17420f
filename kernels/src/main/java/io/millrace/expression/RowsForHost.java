package io.millrace.expression;

import io.millrace.column.Column;
import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.kernel.Gather;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.HostMemoryResource;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The rows of a table that a device left to the host: evaluates these alone, and puts what they
 * give between the device's rows, in the order of the input. Waits for the device.
 */
final class RowsForHost implements AutoCloseable {
  private static final MemoryResource HOST = HostMemoryResource.INSTANCE;

  private final BitSet rows;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final DeviceStream hostStream = HOST.device().createStream();

  /**
   * @param rows their numbers in the input, at least one
   * @param stream of the device
   * @param memory of the device
   */
  RowsForHost(BitSet rows, DeviceStream stream, MemoryResource memory) {
    this.rows = rows;
    this.stream = stream;
    this.memory = memory;
  }

  /**
   * Evaluates these rows of {@code input}.
   *
   * @param condition null for all rows
   * @param computed of which a {@link TypedExpression.RowNumber} is the row's number in the input
   * @param schema of the computed columns
   * @return a table in host memory, which the caller closes
   * @throws EvaluationException for the first row that fails, by its place in the input
   */
  Table evaluate(
      Table input, TypedExpression condition, List<TypedExpression> computed, Schema schema) {
    List<Integer> used = inputs(condition, computed);
    Substitution narrowing = new Substitution(narrowed(input.schema(), used));
    TypedExpression numbers = new TypedExpression.InputReference(0, "row", DataType.INT32, false);
    List<TypedExpression> expressions = new ArrayList<>();
    for (TypedExpression expression : computed) {
      expressions.add(
          expression instanceof TypedExpression.RowNumber ? numbers : narrowing.apply(expression));
    }
    try (Table hostRows = gather(input, used);
        AccessScope scope = AccessScope.on(hostStream)) {
      TypedExpression filter = condition == null ? null : narrowing.apply(condition);
      int capacity = Math.min(HostVector.CAPACITY, hostRows.rowCount());
      return new HostEvaluator(filter, expressions, capacity)
          .evaluate(hostRows, schema, scope, HOST);
    } catch (EvaluationException e) {
      throw e.behind(nth(e.row()) - e.row());
    }
  }

  private int nth(int index) {
    return rows.stream().skip(index).findFirst().orElseThrow();
  }

  /** The columns that are read, by their index in the input. */
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

  /** Where the columns of the input are behind the rows' numbers; those not used are nowhere. */
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

  /** The rows' numbers and their columns, in host memory. */
  private Table gather(Table input, List<Integer> used) {
    Schema schema = input.schema();
    try (Column numbers = numbers(rows.cardinality(), this::forEachRow);
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

  private void forEachRow(IntConsumer consumer) {
    rows.stream().forEach(consumer);
  }

  /** Gives numbers in their order. */
  @FunctionalInterface
  private interface Numbers {
    void forEach(IntConsumer consumer);
  }

  private Column numbers(int count, Numbers numbers) {
    try (FixedWidthColumnBuilder builder =
        (FixedWidthColumnBuilder) ColumnBuilder.of(DataType.INT32, hostStream, HOST)) {
      numbers.forEach(builder::appendInt);
      if (builder.size() != count) {
        throw new IllegalStateException(builder.size() + " numbers of " + count);
      }
      return builder.finish();
    }
  }

  /**
   * The rows of both results, in the order of the input, on the device. The results stay the
   * caller's.
   *
   * @param numbered whether the last column of both is the number of each row in the input; if not,
   *     the device's result has all rows of the input and the host's all rows for it
   */
  Table merge(Table deviceResult, Table hostResult, boolean numbered) {
    try (AppendedRows appended = new AppendedRows(deviceResult, hostResult, stream, memory);
        Column order = order(deviceResult, hostResult, numbered, appended.firstAppended());
        Column map = order.copyTo(memory, stream, stream)) {
      Table merged = Gather.gather(appended.table(), map, stream, memory);
      // What is on the host, the device has read then.
      stream.synchronize();
      return merged;
    }
  }

  /** Which of the appended rows comes where; rows for the host that the device has are left out. */
  private Column order(Table deviceResult, Table hostResult, boolean numbered, int firstAppended) {
    int last = deviceResult.columnCount() - 1;
    int deviceRows = deviceResult.rowCount();
    try (Column hostNumbers =
            numbered
                ? hostResult.column(last).share()
                : numbers(rows.cardinality(), this::forEachRow);
        Column deviceNumbers =
            numbered
                ? deviceResult.column(last).copyTo(HOST, hostStream, stream)
                : numbers(deviceRows, IntStream.range(0, deviceRows)::forEach);
        AccessScope scope = AccessScope.on(hostStream);
        FixedWidthColumnBuilder order =
            (FixedWidthColumnBuilder) ColumnBuilder.of(DataType.INT32, hostStream, HOST)) {
      long deviceAddress = address(deviceNumbers, scope);
      long hostAddress = address(hostNumbers, scope);
      int fromHost = 0;
      for (int i = 0; i < deviceRows; i++) {
        int row = HostMemory.getInt(deviceAddress + (long) i * Integer.BYTES);
        while (fromHost < hostNumbers.size()
            && HostMemory.getInt(hostAddress + (long) fromHost * Integer.BYTES) <= row) {
          order.appendInt(firstAppended + fromHost++);
        }
        if (!rows.get(row)) {
          order.appendInt(i);
        }
      }
      while (fromHost < hostNumbers.size()) {
        order.appendInt(firstAppended + fromHost++);
      }
      return order.finish();
    }
  }

  private static long address(Column numbers, AccessScope scope) {
    return numbers.data().orElseThrow().access(AccessMode.READ, scope)
        + (long) numbers.offset() * Integer.BYTES;
  }

  @Override
  public void close() {
    hostStream.close();
  }
}
