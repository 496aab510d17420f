// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RowBuilder;
import io.millrace.format.record.RowReader;

/**
 * Reads a datum of Avro, or an element of a list, into the columns of a row, by the steps of its
 * program. The twin of avro_record.cuh. Used by one thread.
 */
final class AvroRecordReader implements RowReader {
  private final AvroCursor avro = new AvroCursor();
  private final AvroPlan plan;
  private final AvroStepReader steps;
  private final RowBuilder row;

  /**
   * @param row of the fields
   */
  AvroRecordReader(RecordFields fields, AvroPlan plan, RowBuilder row) {
    this.plan = plan;
    this.row = row;
    this.steps = new AvroStepReader(plan, avro, new AvroValueReader(fields, plan, avro, row), row);
  }

  @Override
  public boolean isPresent(int field) {
    return row.isPresent(field);
  }

  @Override
  public long read(long address, int start, int end, int intoRow) {
    begin(address, start, end, intoRow);
    return finish(findProgram(), start);
  }

  @Override
  public long readElement(long address, int start, int end, int program, int intoRow) {
    begin(address, start, end, intoRow);
    return finish(program, start);
  }

  private void begin(long address, int start, int end, int intoRow) {
    avro.reset(address, start, end);
    row.begin(intoRow);
  }

  private int findProgram() {
    if (!plan.hasIds()) {
      return 0;
    }
    if (!avro.readSchemaId()) {
      return AvroPlan.NO_PROGRAM;
    }
    int program = plan.programOf(avro.schemaId());
    if (program == AvroPlan.NO_PROGRAM) {
      avro.failSchema();
    }
    return program;
  }

  private long finish(int program, int start) {
    row.setPresent(0);
    boolean isRow = program != AvroPlan.NO_PROGRAM;
    if (!isRow || !steps.read(plan.firstStep(program), AvroStepReader.END_OF_RECORD)) {
      row.clear();
    }
    return avro.error().word(avro.field(), avro.position() - start);
  }
}
