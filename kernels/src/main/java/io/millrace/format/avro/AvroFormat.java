// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;
import io.millrace.format.record.RecordField;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RecordFormat;
import io.millrace.format.record.RecordKernels.Target;
import io.millrace.format.record.RowBuilder;
import io.millrace.format.record.RowReader;
import io.millrace.format.text.TextCursor;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Datums of Avro, with or without the id of their schema in front of them. Behind the fields lies a
 * plan: the programs, their steps, and the symbols of enums.
 */
final class AvroFormat implements RecordFormat {
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

  private final RecordFields fields;
  private final boolean hasIds;
  private final List<AvroProgram> programs;
  private final Map<Integer, String> faults;
  private final byte[][] symbols;

  /**
   * @param hasIds whether records begin with the id of their schema; else there is one program
   * @param faults why records of other schemas cannot be read, by the ids of the schemas
   */
  AvroFormat(
      RecordFields fields,
      boolean hasIds,
      List<AvroProgram> programs,
      Map<Integer, String> faults) {
    this.fields = fields;
    this.hasIds = hasIds;
    this.programs = List.copyOf(programs);
    this.faults = Map.copyOf(faults);
    this.symbols =
        programs.stream()
            .flatMap(program -> program.symbols().stream())
            .map(symbol -> symbol.getBytes(StandardCharsets.UTF_8))
            .toArray(byte[][]::new);
  }

  private int stepsAt() {
    return Layout.LAYOUT.bytes() + programs.size() * ProgramLayout.LAYOUT.bytes();
  }

  private int symbolsAt() {
    int steps = programs.stream().mapToInt(program -> program.steps().size()).sum();
    return stepsAt() + steps * AvroStep.Layout.LAYOUT.bytes();
  }

  private int textsAt() {
    return symbolsAt() + symbols.length * SymbolLayout.LAYOUT.bytes();
  }

  @Override
  public int bytes() {
    int bytes = textsAt();
    for (byte[] symbol : symbols) {
      bytes += symbol.length;
    }
    return (bytes + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
  }

  @Override
  public void write(long fieldsAddress, long target) {
    HostMemory.fill(target, bytes(), (byte) 0);
    put(target, Layout.PROGRAMS, programs.size());
    put(target, Layout.HAS_IDS, hasIds ? 1 : 0);
    put(target, Layout.STEPS, stepsAt());
    put(target, Layout.SYMBOLS, symbolsAt());
    long next = target + Layout.LAYOUT.bytes();
    int firstStep = 0;
    for (AvroProgram program : programs) {
      put(next, ProgramLayout.ID, program.id());
      put(next, ProgramLayout.FIRST_STEP, firstStep);
      firstStep += program.steps().size();
      next += ProgramLayout.LAYOUT.bytes();
    }
    writeSteps(target + stepsAt());
    writeSymbols(target);
  }

  private void writeSteps(long target) {
    long next = target;
    int firstStep = 0;
    int firstSymbol = 0;
    for (AvroProgram program : programs) {
      for (AvroStep step : program.steps()) {
        step.write(next, firstStep, firstSymbol);
        next += AvroStep.Layout.LAYOUT.bytes();
      }
      firstStep += program.steps().size();
      firstSymbol += program.symbols().size();
    }
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

  @Override
  public RowReader rowReader(List<Target> targets, boolean exact) {
    return new AvroRecordReader(
        fields, hasIds, programs, symbols, new RowBuilder(fields, targets, exact));
  }

  /** Copies a symbol, whose number is the position of the text. */
  @Override
  public void resolveEscapes(RecordField field, TextCursor text, int bytes, long target) {
    HostMemory.copyFromArray(target, symbols[text.at()], 0, bytes);
  }

  @Override
  public Optional<String> schemaFault(int id) {
    return Optional.ofNullable(faults.get(id));
  }
}
