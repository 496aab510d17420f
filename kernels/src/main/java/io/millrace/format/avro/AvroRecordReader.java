// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.format.record.RecordError;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RowBuilder;
import io.millrace.format.record.RowReader;
import java.util.List;

/**
 * Reads a datum of Avro into the columns of a row, by the steps of the program for its schema. The
 * twin of avro_record.cuh. Used by one thread.
 */
final class AvroRecordReader implements RowReader {
  private final AvroCursor avro = new AvroCursor();
  private final AvroValueReader values;
  private final boolean hasIds;
  private final AvroProgram[] programs;
  private final AvroStep[][] steps;
  private final RowBuilder row;
  private final long[] elements = new long[SchemaResolution.MAX_DEPTH];

  /**
   * @param symbols of all programs
   * @param row of the fields
   */
  AvroRecordReader(
      RecordFields fields,
      boolean hasIds,
      List<AvroProgram> programs,
      byte[][] symbols,
      RowBuilder row) {
    this.hasIds = hasIds;
    this.programs = programs.toArray(AvroProgram[]::new);
    this.steps = new AvroStep[this.programs.length][];
    for (int i = 0; i < steps.length; i++) {
      steps[i] = this.programs[i].steps().toArray(AvroStep[]::new);
    }
    this.row = row;
    this.values = new AvroValueReader(fields, symbols, avro, row);
  }

  @Override
  public boolean isPresent(int field) {
    return row.isPresent(field);
  }

  @Override
  public long read(long address, int start, int end, int intoRow) {
    avro.reset(address, start, end);
    row.begin(intoRow);
    if (!readRecord()) {
      row.clear();
    }
    return avro.error().word(avro.field(), avro.position() - start);
  }

  private boolean readRecord() {
    int firstSymbol = 0;
    int program = 0;
    if (hasIds) {
      if (!avro.readSchemaId()) {
        return false;
      }
      while (program < programs.length && programs[program].id() != avro.schemaId()) {
        firstSymbol += programs[program].symbols().size();
        program++;
      }
      if (program == programs.length) {
        return avro.failSchema();
      }
    }
    row.setPresent(0);
    return readSteps(steps[program], firstSymbol);
  }

  private boolean readSteps(AvroStep[] program, int firstSymbol) {
    int depth = 0;
    int at = 0;
    for (; ; ) {
      AvroStep step = program[at++];
      switch (step.kind) {
        case RECORD -> row.setPresent(step.field);
        case JUMP -> at = step.next;
        case OPTIONAL -> {
          if (!avro.readIndex(2)) {
            return false;
          }
          if (avro.integer() == step.size) {
            at = step.next;
          }
        }
        case UNION -> {
          if (!avro.readIndex(step.size)) {
            return false;
          }
          at += (int) avro.integer();
        }
        case FAIL -> {
          return avro.fail(step.field, step.error);
        }
        case BLOCKS_BEGIN -> {
          elements[depth++] = 1;
          at = step.next;
        }
        case BLOCKS_END -> {
          elements[depth - 1]--;
          if (elements[depth - 1] <= 0) {
            if (!avro.readBlock(step.next < at - 1)) {
              return false;
            }
            elements[depth - 1] = avro.integer();
          }
          if (elements[depth - 1] > 0) {
            at = step.next;
          } else {
            depth--;
          }
        }
        case END -> {
          return avro.isAtEnd() || avro.fail(RecordError.TRAILING_BYTES);
        }
        default -> {
          if (!values.read(step, firstSymbol)) {
            return false;
          }
        }
      }
    }
  }
}
