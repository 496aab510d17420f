package io.millrace.expression;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.KernelArguments;
import io.millrace.expression.CalcProgram.InputWord;
import io.millrace.expression.CalcProgram.Output;
import io.millrace.expression.CalcProgram.OutputWord;
import io.millrace.expression.CalcProgram.Word;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/** The memory of one run of a generated kernel, and its addresses in the kernel's arguments. */
final class CalcMemory {
  private static final int CONTROL_BYTES = 64;
  private static final int NEEDS_HOST_OFFSET = 32;
  private static final int MOST_ROWS_OF_THREAD = 16;

  private final CalcProgram program;
  private final List<Column> inputs;
  private final Table input;
  private final int rows;
  private final AccessScope scope;
  private final MemoryResource memory;
  private final List<Buffer> temporary;
  private final int iterations;
  private final int tiles;
  private final boolean isResident;
  private final Buffer control;
  private final long controlAddress;
  private long nextMask;

  /**
   * Allocates what the kernel needs zeroed: its control words and the masks it sets bits of.
   *
   * @param temporary takes what is closed after the launch
   * @param residentBlocks blocks that the device runs at once
   */
  CalcMemory(
      CalcProgram program,
      Table input,
      AccessScope scope,
      MemoryResource memory,
      List<Buffer> temporary,
      int residentBlocks) {
    this.program = program;
    this.input = input;
    this.inputs = input.upperBoundColumns();
    this.rows = input.rowCountUpperBound();
    this.scope = scope;
    this.memory = memory;
    this.temporary = temporary;
    this.iterations = iterations(residentBlocks);
    this.tiles = (rows - 1) / (iterations * program.rowsOfIteration() * CalcProgram.THREADS) + 1;
    this.isResident = tiles <= residentBlocks;
    long masks =
        program.filters()
            ? program.outputs().stream().filter(Output::nullable).count() * Column.maskBytes(rows)
            : 0;
    this.nextMask = maskAlignment(CONTROL_BYTES + program.sums() * lookBackBytes());
    this.control = allocate(nextMask + masks);
    temporary.add(control);
    this.controlAddress = control.access(AccessMode.WRITE, scope);
    scope.stream().fill(controlAddress, (byte) 0, control.size());
  }

  // As many as keep the look-back short, as long as all of the device has work.
  private int iterations(int residentBlocks) {
    if (!program.iterates()) {
      return 1;
    }
    long rowsOfBlock = (long) program.rowsOfIteration() * CalcProgram.THREADS;
    long most = MOST_ROWS_OF_THREAD / program.rowsOfIteration();
    return (int) Math.max(1, Math.min(most, rows / (rowsOfBlock * residentBlocks)));
  }

  private static long maskAlignment(long bytes) {
    return (bytes + Column.MASK_PADDING_BYTES - 1)
        / Column.MASK_PADDING_BYTES
        * Column.MASK_PADDING_BYTES;
  }

  private Buffer allocate(long bytes) {
    return Buffer.allocate(bytes, scope.stream(), memory);
  }

  int tiles() {
    return tiles;
  }

  private long lookBackBytes() {
    return (long) tiles() * Long.BYTES;
  }

  /** Addresses of the input's memory; it is accessed from here on. */
  void putInputs(KernelArguments arguments) {
    arguments.putLong(Word.ROWS.offset(), rows);
    input
        .deviceRowCount()
        .ifPresent(
            count ->
                arguments.putLong(Word.DEVICE_ROWS.offset(), count.access(AccessMode.READ, scope)));
    for (int i = 0; i < program.inputs().size(); i++) {
      Column column = inputs.get(program.inputs().get(i));
      putInput(i, column, arguments);
    }
  }

  private void putInput(int index, Column column, KernelArguments arguments) {
    if (column.hasOffsets()) {
      put(arguments, index, InputWord.DATA, read(column.data().orElseThrow()));
      put(arguments, index, InputWord.SECOND, elements(column.child(0), column.offset()));
    } else if (column.type().id() == TypeId.TIMESTAMP_NANOS) {
      put(arguments, index, InputWord.DATA, elements(column.child(0), column.offset()));
      put(arguments, index, InputWord.SECOND, elements(column.child(1), column.offset()));
    } else {
      put(arguments, index, InputWord.DATA, elements(column, 0));
    }
    column
        .validity()
        .ifPresent(
            mask -> {
              put(arguments, index, InputWord.VALIDITY, read(mask));
              put(arguments, index, InputWord.BIT_OFFSET, column.offset());
            });
  }

  private static void put(KernelArguments arguments, int input, InputWord word, long value) {
    arguments.putLong(CalcProgram.inputOffset(input, word), value);
  }

  private long elements(Column column, int first) {
    long width = column.type().id().byteWidth();
    return read(column.data().orElseThrow()) + (column.offset() + first) * width;
  }

  private long read(Buffer buffer) {
    return buffer.access(AccessMode.READ, scope);
  }

  /** Allocates the output columns, for as many rows as the input may have, and scratch memory. */
  void allocateOutputs(KernelArguments arguments, List<Column> columns) {
    for (int i = 0; i < program.outputs().size(); i++) {
      columns.add(allocateOutput(i, arguments));
    }
    for (int i = 0; i < program.scratches().size(); i++) {
      Buffer scratch = allocate(bytes(program.scratches().get(i)));
      temporary.add(scratch);
      arguments.putLong(
          CalcProgram.scratchOffset(program.inputs().size(), program.outputs().size(), i),
          scratch.access(AccessMode.WRITE, scope));
    }
  }

  private Column allocateOutput(int index, KernelArguments arguments) {
    Output output = program.outputs().get(index);
    DataType type = output.type();
    List<Buffer> parts = new ArrayList<>();
    try {
      Buffer mask = output.nullable() ? allocateMask(index, parts, arguments) : null;
      if (type.id().isVariableWidth()) {
        Column offsets = part(DataType.INT32, rows + 1, parts);
        put(arguments, index, OutputWord.SECOND, offsets.data().orElseThrow());
        Buffer bytes = add(parts, bytes(output.bound()));
        put(arguments, index, OutputWord.DATA, bytes);
        return new Column(type, rows, 0, bytes, mask, List.of(offsets));
      } else if (type.id() == TypeId.TIMESTAMP_NANOS) {
        Column millis = part(DataType.INT64, rows, parts);
        Column nanos = part(DataType.INT32, rows, parts);
        put(arguments, index, OutputWord.DATA, millis.data().orElseThrow());
        put(arguments, index, OutputWord.SECOND, nanos.data().orElseThrow());
        return new Column(type, rows, 0, null, mask, List.of(millis, nanos));
      }
      Buffer data = add(parts, (long) rows * type.id().byteWidth());
      put(arguments, index, OutputWord.DATA, data);
      return new Column(type, rows, 0, data, mask, List.of());
    } catch (RuntimeException | Error e) {
      parts.forEach(Buffer::close);
      throw e;
    }
  }

  private Column part(DataType type, int elements, List<Buffer> parts) {
    Buffer data = add(parts, (long) elements * type.id().byteWidth());
    return new Column(type, elements, 0, data, null, List.of());
  }

  private Buffer add(List<Buffer> parts, long bytes) {
    Buffer buffer = allocate(bytes);
    parts.add(buffer);
    return buffer;
  }

  // A slice of the control memory is written by that memory's address: it is shared, and writing to
  // it as a buffer would copy it.
  private Buffer allocateMask(int output, List<Buffer> parts, KernelArguments arguments) {
    long bytes = Column.maskBytes(rows);
    if (!program.filters()) {
      Buffer mask = add(parts, bytes);
      put(arguments, output, OutputWord.VALIDITY, mask);
      return mask;
    }
    Buffer mask = control.slice(nextMask, bytes);
    parts.add(mask);
    arguments.putLong(
        CalcProgram.outputOffset(program.inputs().size(), output, OutputWord.VALIDITY),
        controlAddress + nextMask);
    nextMask += bytes;
    return mask;
  }

  private void put(KernelArguments arguments, int output, OutputWord word, Buffer buffer) {
    arguments.putLong(
        CalcProgram.outputOffset(program.inputs().size(), output, word),
        buffer.access(AccessMode.WRITE, scope));
  }

  private long bytes(RowBound bound) {
    long bytes = bound.bytes(rows, column -> inputs.get(column).data().orElseThrow().size());
    if (bytes > Integer.MAX_VALUE) {
      throw new GpuOutOfMemoryException(
          "a column may get " + bytes + " bytes, more than the 2 GiB that it holds");
    }
    return bytes;
  }

  /** Addresses of the control words. */
  void putControl(KernelArguments arguments) {
    arguments.putLong(Word.TILE_COUNTER.offset(), isResident ? 0 : controlAddress);
    arguments.putLong(Word.ITERATIONS.offset(), iterations);
    arguments.putLong(Word.NEEDS_HOST.offset(), needsHostAddress());
    arguments.putLong(Word.LOOK_BACK.offset(), controlAddress + CONTROL_BYTES);
    arguments.putLong(Word.LOOK_BACK_BYTES.offset(), lookBackBytes());
  }

  /** Where the kernel says that the host must evaluate the rows. */
  long needsHostAddress() {
    return controlAddress + NEEDS_HOST_OFFSET;
  }
}
