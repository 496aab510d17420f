// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.format.record.RecordError;
import io.millrace.format.record.RowBuilder;

/** Goes through the steps of a plan. The twin of avro_record.cuh. Used by one thread. */
final class AvroStepReader {
  /** Stands for the end of the record, in place of the number of a step. */
  static final int END_OF_RECORD = -1;

  private final AvroPlan plan;
  private final AvroCursor avro;
  // Of the values of steps with a field; null where steps have none, as the next one.
  private final AvroValueReader values;
  private final RowBuilder row;
  private final long[] elements = new long[SchemaResolution.MAX_DEPTH];

  // Of the list of a field, whose elements have no fields here: there is only one at a time.
  private int listStart;
  private int listNumber;
  private int listElements;

  AvroStepReader(AvroPlan plan, AvroCursor avro, AvroValueReader values, RowBuilder row) {
    this.plan = plan;
    this.avro = avro;
    this.values = values;
    this.row = row;
  }

  /** For steps without fields. */
  AvroStepReader(AvroPlan plan, AvroCursor avro) {
    this(plan, avro, null, null);
  }

  /**
   * Goes from one step to another; false if the record is not a row.
   *
   * @param end {@link #END_OF_RECORD} to read the record to its end
   */
  boolean read(int first, int end) {
    int depth = 0;
    int at = first;
    while (at != end) {
      AvroStep step = plan.step(at++);
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
          beginList(step, at - 1);
          elements[depth++] = 1;
          at = step.next;
        }
        case BLOCKS_END -> {
          elements[depth - 1]--;
          if (elements[depth - 1] <= 0) {
            if (!avro.readBlock(step.size != 0, step.next < at - 1)) {
              return false;
            }
            elements[depth - 1] = avro.integer();
            addElements(step, (int) avro.integer());
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
          if (!(step.hasField() ? values.read(step) : avro.skip(step))) {
            return false;
          }
        }
      }
    }
    return true;
  }

  private void beginList(AvroStep step, int number) {
    if (step.hasField()) {
      listStart = avro.text.at();
      listNumber = number;
      listElements = 0;
    }
  }

  private void addElements(AvroStep step, int count) {
    if (step.hasField()) {
      listElements += count;
      row.putList(step.field, listStart, listNumber, listElements);
      row.setPresent(step.field);
    }
  }
}
