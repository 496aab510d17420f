// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.calc.CalcProgram.Output;
import io.millrace.calc.CalcProgram.OutputWord;
import io.millrace.calc.CalcProgram.Word;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.KernelArguments;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/** The memory of one run of a generated kernel and its addresses in the kernel arguments. */
final class CalcOutputs {
  private static final int CONTROL_BYTES = 64;
  private static final int NEEDS_HOST_OFFSET = 32;

  private final CalcProgram program;
  private final CalcInputs inputs;
  private final CalcGrid grid;
  private final int rows;
  private final AccessScope scope;
  private final MemoryResource memory;
  private final List<Buffer> temporary;
  private final Buffer control;
  private final long controlAddress;
  private final long rowsForHostOffset;
  private long nextMask;

  /**
   * Allocates the memory that the kernel expects to be zero: control words and masks.
   *
   * @param temporary collects memory to be released after the launch
   * @param residentBlocks number of blocks that the device runs at once
   */
  CalcOutputs(
      CalcProgram program,
      Table input,
      AccessScope scope,
      MemoryResource memory,
      List<Buffer> temporary,
      int residentBlocks) {
    this.program = program;
    this.inputs = new CalcInputs(program, input, scope);
    this.rows = input.rowCountUpperBound();
    this.grid = CalcGrid.of(program, rows, residentBlocks);
    this.scope = scope;
    this.memory = memory;
    this.temporary = temporary;
    long masks =
        program.hasFilter()
            ? program.outputs().stream().filter(Output::nullable).count() * Column.maskBytes(rows)
            : 0;
    this.rowsForHostOffset = maskAlignment(CONTROL_BYTES + program.sums() * lookBackBytes());
    this.nextMask = rowsForHostOffset + rowsForHostBytes();
    this.control = allocate(nextMask + masks);
    temporary.add(control);
    this.controlAddress = control.access(AccessMode.WRITE, scope);
    scope.stream().fill(controlAddress, (byte) 0, control.size());
  }

  private static long maskAlignment(long bytes) {
    return (bytes + Column.MASK_PADDING_BYTES - 1)
        / Column.MASK_PADDING_BYTES
        * Column.MASK_PADDING_BYTES;
  }

  private Buffer allocate(long bytes) {
    return Buffer.allocate(bytes, scope.stream(), memory);
  }

  /** Number of blocks. */
  int tiles() {
    return grid.tiles();
  }

  private long lookBackBytes() {
    return (long) grid.tiles() * Long.BYTES;
  }

  /** Writes the addresses of the input memory, which is accessed from now on. */
  void putInputs(KernelArguments arguments) {
    inputs.put(arguments);
  }

  /** Allocates output columns for the maximum number of rows, and scratch memory. */
  void allocateOutputs(KernelArguments arguments, List<Column> columns) {
    for (int i = 0; i < program.outputs().size(); i++) {
      columns.add(allocateOutput(i, arguments));
    }
    for (int i = 0; i < program.scratches().size(); i++) {
      allocateScratch(i, arguments);
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
        put(arguments, index, OutputWord.SECOND_PART, offsets.data().orElseThrow());
        Buffer bytes = add(parts, columnBytes(output.bound()));
        put(arguments, index, OutputWord.DATA, bytes);
        return new Column(type, rows, 0, bytes, mask, List.of(offsets));
      } else if (type.id() == TypeId.TIMESTAMP_NANOS) {
        Column millis = part(DataType.INT64, rows, parts);
        Column nanos = part(DataType.INT32, rows, parts);
        put(arguments, index, OutputWord.DATA, millis.data().orElseThrow());
        put(arguments, index, OutputWord.SECOND_PART, nanos.data().orElseThrow());
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

  // Written by address: the control memory is shared, so writing to a slice of it as a buffer would
  // copy it.
  private Buffer allocateMask(int output, List<Buffer> parts, KernelArguments arguments) {
    long bytes = Column.maskBytes(rows);
    if (!program.hasFilter()) {
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

  private long columnBytes(RowSizeLimit bound) {
    long bytes = inputs.size(bound).bytes();
    if (bytes > Integer.MAX_VALUE) {
      throw new GpuOutOfMemoryException(
          "expected at most 2 GiB of bytes in a column, got up to " + bytes + " bytes");
    }
    return bytes;
  }

  private void allocateScratch(int index, KernelArguments arguments) {
    CalcInputs.Size size = inputs.size(program.scratches().get(index));
    if (size.bytesPerRow() > Integer.MAX_VALUE) {
      throw new GpuOutOfMemoryException(
          "expected at most 2 GiB of bytes in a value, got up to " + size.bytesPerRow() + " bytes");
    }
    Buffer scratch = allocate(size.bytes());
    temporary.add(scratch);
    arguments.putLong(
        program.scratchOffset(index), scratch.access(AccessMode.WRITE, scope) - size.bytesBefore());
  }

  /** Writes the addresses of the control words. */
  void putControl(KernelArguments arguments) {
    arguments.putLong(Word.TILE_COUNTER.offset(), grid.isResident() ? 0 : controlAddress);
    arguments.putLong(Word.ITERATIONS.offset(), grid.iterations());
    arguments.putLong(Word.NEEDS_HOST.offset(), needsHostAddress());
    arguments.putLong(Word.ROWS_FOR_HOST.offset(), rowsForHostAddress());
    arguments.putLong(Word.LOOK_BACK.offset(), controlAddress + CONTROL_BYTES);
    arguments.putLong(Word.LOOK_BACK_BYTES.offset(), lookBackBytes());
  }

  /** Address of the flag that is set if the host must evaluate rows. */
  long needsHostAddress() {
    return controlAddress + NEEDS_HOST_OFFSET;
  }

  /** Address of the bit mask of the rows that the host must evaluate. */
  long rowsForHostAddress() {
    return controlAddress + rowsForHostOffset;
  }

  long rowsForHostBytes() {
    return program.mayNeedHost() ? Column.maskBytes(rows) : 0;
  }
}
