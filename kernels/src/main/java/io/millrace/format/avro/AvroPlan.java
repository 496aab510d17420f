// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Programs whose steps, symbols and programs of elements are numbered together, and their form for
 * kernels. Immutable.
 */
final class AvroPlan {
  /** The structure {@code AvroPlan} of avro_arguments.cuh. */
  static final class Layout {
    static final KernelStructure LAYOUT = new KernelStructure("AvroPlan");
    static final KernelStructure.Int32 PROGRAMS = LAYOUT.int32("programs");
    static final KernelStructure.Int32 HAS_IDS = LAYOUT.int32("has_ids");
    static final KernelStructure.Int32 STEPS = LAYOUT.int32("steps");
    static final KernelStructure.Int32 SYMBOLS = LAYOUT.int32("symbols");

    private Layout() {}
  }

  /** The structure {@code AvroProgram} of avro_arguments.cuh. */
  static final class ProgramLayout {
    static final KernelStructure LAYOUT = new KernelStructure("AvroProgram");
    static final KernelStructure.Int32 ID = LAYOUT.int32("id");
    static final KernelStructure.Int32 FIRST_STEP = LAYOUT.int32("first_step");

    private ProgramLayout() {}
  }

  /** The structure {@code AvroSymbol} of avro_arguments.cuh. */
  static final class SymbolLayout {
    static final KernelStructure LAYOUT = new KernelStructure("AvroSymbol");
    static final KernelStructure.Int32 TEXT = LAYOUT.int32("text");
    static final KernelStructure.Int32 TEXT_BYTES = LAYOUT.int32("text_bytes");

    private SymbolLayout() {}
  }

  static final int NO_PROGRAM = -1;

  private final boolean hasIds;
  private final int[] ids;
  private final int[] firstSteps;
  private final AvroStep[] steps;
  private final byte[][] symbols;

  /**
   * @param fields the number of fields of records
   * @param hasIds whether records begin with the id of their schema; else there is one program, or
   *     the records are elements of lists
   */
  AvroPlan(int fields, boolean hasIds, List<AvroProgram> programs) {
    this.hasIds = hasIds;
    this.ids = programs.stream().mapToInt(AvroProgram::id).toArray();
    this.firstSteps = new int[ids.length];
    List<AvroStep> linked = new ArrayList<>();
    List<String> texts = new ArrayList<>();
    int[] elements = new int[fields];
    for (int i = 0; i < ids.length; i++) {
      AvroProgram program = programs.get(i);
      firstSteps[i] = linked.size();
      for (AvroStep step : program.steps()) {
        int firstProgram = step.isList() ? elements[step.field] : 0;
        linked.add(step.linked(firstSteps[i], texts.size(), firstProgram));
      }
      texts.addAll(program.symbols());
      program.elements().forEach((field, inside) -> elements[field] += inside.size());
    }
    this.steps = linked.toArray(AvroStep[]::new);
    this.symbols =
        texts.stream()
            .map(symbol -> symbol.getBytes(StandardCharsets.UTF_8))
            .toArray(byte[][]::new);
  }

  /** Whether records begin with the id of their schema. */
  boolean hasIds() {
    return hasIds;
  }

  /** The number of the program for a schema, or {@link #NO_PROGRAM}. */
  int programOf(int id) {
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] == id) {
        return i;
      }
    }
    return NO_PROGRAM;
  }

  /** The number of a program's first step. */
  int firstStep(int program) {
    return firstSteps[program];
  }

  AvroStep step(int number) {
    return steps[number];
  }

  /** The text of a symbol, which stays as it is. */
  byte[] symbol(int number) {
    return symbols[number];
  }

  private int stepsAt() {
    return Layout.LAYOUT.bytes() + ids.length * ProgramLayout.LAYOUT.bytes();
  }

  private int symbolsAt() {
    return stepsAt() + steps.length * AvroStep.Layout.LAYOUT.bytes();
  }

  private int textsAt() {
    return symbolsAt() + symbols.length * SymbolLayout.LAYOUT.bytes();
  }

  /** Bytes that {@link #write} writes, in whole words. */
  int bytes() {
    int bytes = textsAt();
    for (byte[] symbol : symbols) {
      bytes += symbol.length;
    }
    return (bytes + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
  }

  /** Writes the plan for kernels. */
  void write(long target) {
    HostMemory.fill(target, bytes(), (byte) 0);
    put(target, Layout.PROGRAMS, ids.length);
    put(target, Layout.HAS_IDS, hasIds ? 1 : 0);
    put(target, Layout.STEPS, stepsAt());
    put(target, Layout.SYMBOLS, symbolsAt());
    long next = target + Layout.LAYOUT.bytes();
    for (int i = 0; i < ids.length; i++) {
      put(next, ProgramLayout.ID, ids[i]);
      put(next, ProgramLayout.FIRST_STEP, firstSteps[i]);
      next += ProgramLayout.LAYOUT.bytes();
    }
    for (AvroStep step : steps) {
      step.write(next);
      next += AvroStep.Layout.LAYOUT.bytes();
    }
    writeSymbols(target);
  }

  private void writeSymbols(long target) {
    long next = target + symbolsAt();
    int text = textsAt();
    for (byte[] symbol : symbols) {
      put(next, SymbolLayout.TEXT, text);
      put(next, SymbolLayout.TEXT_BYTES, symbol.length);
      HostMemory.copyFromArray(target + text, symbol, 0, symbol.length);
      next += SymbolLayout.LAYOUT.bytes();
      text += symbol.length;
    }
  }

  private static void put(long address, KernelStructure.Int32 field, int value) {
    HostMemory.putInt(address + field.offset(), value);
  }
}
