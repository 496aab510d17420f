// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import io.millrace.annotation.Internal;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/**
 * The output columns of a gather, allocated but not filled, and the moves that fill them. Holds the
 * columns until they are taken; closing frees columns that were not taken.
 */
@Internal
public final class GatherPlan implements AutoCloseable {

  /** A fixed-width buffer, at the first row of its slice. Input 0 stands for the row number. */
  public record FixedWidthGather(long input, long output, int width) {}

  /** A validity mask, whose first row is at bit {@code bitOffset}. */
  record MaskMove(long input, int bitOffset, long output) {}

  /**
   * The runs of a string or list column.
   *
   * @param inputOffsets at the first row of the slice
   * @param inputBytes of strings; 0 for lists
   * @param output bytes of strings; for lists, the numbers of the input's elements: the map of
   *     {@code elements}
   * @param capacity number of elements of {@code output}
   * @param elements the moves of the elements by that map; null for strings
   */
  record OffsetGather(
      long inputOffsets,
      long inputBytes,
      long outputOffsets,
      long output,
      int capacity,
      GatherPlan elements) {}

  private final int rows;
  private final AccessScope scope;
  private final MemoryResource memory;
  // Whether the map names each row once, so that there are as many nulls as in the input.
  private final boolean isReordering;
  // null if the map names no row twice.
  private final RepeatedGather repeated;
  private final List<FixedWidthGather> fixed = new ArrayList<>();
  private final List<MaskMove> masks = new ArrayList<>();
  private final List<OffsetGather> runs = new ArrayList<>();
  // Buffers that no column owns yet.
  private final List<Buffer> buffers = new ArrayList<>();
  private final List<Buffer> scratch = new ArrayList<>();
  private final List<GatherPlan> nested = new ArrayList<>();
  private final List<Column> parts = new ArrayList<>();
  private final List<Column> columns = new ArrayList<>();

  /**
   * A plan for a map that names no row twice.
   *
   * @param rows of the output
   * @param scope on the stream that the output is for
   */
  GatherPlan(List<Column> inputs, int rows, AccessScope scope, MemoryResource memory) {
    this(inputs, rows, scope, memory, false, null);
  }

  /**
   * A plan for a map that names rows more than once: strings and lists get the memory they need.
   */
  GatherPlan(List<Column> inputs, RepeatedGather repeated) {
    this(inputs, repeated.rows(), repeated.scope(), repeated.memory(), false, repeated);
  }

  /**
   * A plan for a map that names each row once.
   *
   * @param rows of the inputs and the output
   * @param scope on the stream that the output is for
   */
  public static GatherPlan ofReordering(
      List<Column> inputs, int rows, AccessScope scope, MemoryResource memory) {
    return new GatherPlan(inputs, rows, scope, memory, true, null);
  }

  private GatherPlan(
      List<Column> inputs,
      int rows,
      AccessScope scope,
      MemoryResource memory,
      boolean isReordering,
      RepeatedGather repeated) {
    this.rows = rows;
    this.scope = scope;
    this.memory = memory;
    this.isReordering = isReordering;
    this.repeated = repeated;
    try {
      for (Column input : inputs) {
        columns.add(plan(input, 0));
        buffers.clear();
        parts.clear();
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  public int rows() {
    return rows;
  }

  public List<FixedWidthGather> fixed() {
    return fixed;
  }

  List<MaskMove> masks() {
    return masks;
  }

  List<OffsetGather> runs() {
    return runs;
  }

  /** Whether some column needs a map from output rows to input rows. */
  public boolean needsMap() {
    return !masks.isEmpty() || !runs.isEmpty();
  }

  /** Allocates memory that lives until the plan is closed. */
  public long allocateScratch(long bytes) {
    Buffer buffer = Buffer.allocate(bytes, scope.stream(), memory);
    scratch.add(buffer);
    return buffer.access(AccessMode.WRITE, scope);
  }

  /** The output columns; the caller owns them. */
  public List<Column> takeColumns() {
    List<Column> taken = List.copyOf(columns);
    columns.clear();
    return taken;
  }

  // The children of a struct or timestamp are indexed by its own offset and rows: the base.
  private Column plan(Column input, int base) {
    int first = base + input.offset();
    Buffer mask = input.validity().map(validity -> planMask(validity, first)).orElse(null);
    return switch (input.type().id()) {
      case STRING, BINARY -> planStrings(input, first, mask);
      case LIST -> planLists(input, first, mask);
      case STRUCT, TIMESTAMP_NANOS ->
          column(
              input,
              null,
              mask,
              input.children().stream().map(child -> plan(child, first)).toList());
      case DICTIONARY ->
          column(input, planFixed(input, first), mask, List.of(part(input.child(0).share())));
      default -> column(input, planFixed(input, first), mask, List.of());
    };
  }

  private Column column(Column input, Buffer data, Buffer mask, List<Column> children) {
    Column output = new Column(input.type(), rows, 0, data, mask, children);
    return isReordering && rows == input.size() && input.isNullCountKnown()
        ? output.withNullCount(input.nullCount(scope.stream()))
        : output;
  }

  private Buffer planMask(Buffer input, int first) {
    Buffer output = allocate(Column.maskBytes(rows));
    masks.add(new MaskMove(read(input), first, write(output)));
    return output;
  }

  private Buffer planFixed(Column input, int first) {
    int width = input.type().id().byteWidth();
    Buffer output = allocate((long) rows * width);
    fixed.add(new FixedWidthGather(elements(input, first), write(output), width));
    return output;
  }

  // A reordering has as many bytes as its input. For a slice only the device knows this number, so
  // the output is as large as the whole buffer, or as the range of offsets.
  private Column planStrings(Column input, int first, Buffer mask) {
    Buffer bytes = input.data().orElseThrow();
    Buffer offsets = allocate((rows + 1L) * Integer.BYTES);
    long inputOffsets = offsets(input, first);
    int capacity =
        repeated == null
            ? (int) Math.min(bytes.size(), Integer.MAX_VALUE)
            : repeated.count(inputOffsets);
    Buffer output = allocate(capacity);
    runs.add(
        new OffsetGather(inputOffsets, read(bytes), write(offsets), write(output), capacity, null));
    return column(input, output, mask, List.of(offsetsColumn(offsets)));
  }

  private Column planLists(Column input, int first, Buffer mask) {
    Column elements = input.child(1);
    Buffer offsets = allocate((rows + 1L) * Integer.BYTES);
    long inputOffsets = offsets(input, first);
    int capacity = repeated == null ? elements.size() : repeated.count(inputOffsets);
    long map = allocateScratch((long) capacity * Integer.BYTES);
    GatherPlan inside = inside(elements, inputOffsets, write(offsets), map, capacity);
    nested.add(inside);
    runs.add(new OffsetGather(inputOffsets, 0, write(offsets), map, capacity, inside));
    Column output = part(inside.takeColumns().get(0));
    return column(input, null, mask, List.of(offsetsColumn(offsets), output));
  }

  // Elements of repeated lists are repeated too: their map must be known before they are planned.
  private GatherPlan inside(Column elements, long inputOffsets, long offsets, long map, int count) {
    if (repeated == null) {
      return new GatherPlan(List.of(elements), count, scope, memory);
    }
    repeated.number(inputOffsets, offsets, map, count);
    return new GatherPlan(List.of(elements), repeated.within(map, count));
  }

  private Column part(Column column) {
    parts.add(column);
    return column;
  }

  private Column offsetsColumn(Buffer offsets) {
    return new Column(DataType.INT32, rows + 1, 0, offsets, null, List.of());
  }

  private Buffer allocate(long bytes) {
    Buffer buffer = Buffer.allocate(bytes, scope.stream(), memory);
    buffers.add(buffer);
    return buffer;
  }

  private long elements(Column column, int first) {
    return read(column.data().orElseThrow()) + (long) first * column.type().id().byteWidth();
  }

  private long offsets(Column column, int first) {
    Column offsets = column.child(0);
    return elements(offsets, offsets.offset() + first);
  }

  private long read(Buffer buffer) {
    return buffer.access(AccessMode.READ, scope);
  }

  private long write(Buffer buffer) {
    return buffer.access(AccessMode.WRITE, scope);
  }

  @Override
  public void close() {
    nested.forEach(GatherPlan::close);
    columns.forEach(Column::close);
    parts.forEach(Column::close);
    buffers.forEach(Buffer::close);
    scratch.forEach(Buffer::close);
    columns.clear();
    parts.clear();
    buffers.clear();
    scratch.clear();
  }
}
