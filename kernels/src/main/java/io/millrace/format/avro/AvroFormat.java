// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.device.HostMemory;
import io.millrace.format.record.FieldType;
import io.millrace.format.record.RecordField;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RecordFormat;
import io.millrace.format.record.RecordKernels.Target;
import io.millrace.format.record.RowBuilder;
import io.millrace.format.record.RowReader;
import io.millrace.format.text.TextCursor;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Datums of Avro, with or without the id of their schema in front of them, or the elements of lists
 * in them. An {@link AvroPlan} lies behind the fields.
 */
final class AvroFormat implements RecordFormat {
  private final RecordFields fields;
  private final AvroPlan plan;
  private final Map<Integer, String> faults;
  // By field; null where a field is no list.
  private final AvroFormat[] elements;

  /**
   * @param hasIds whether records begin with the id of their schema; else there is one program, or
   *     the records are elements of lists
   * @param faults why records of other schemas cannot be read, by the ids of the schemas
   */
  AvroFormat(
      RecordFields fields,
      boolean hasIds,
      List<AvroProgram> programs,
      Map<Integer, String> faults) {
    this.fields = fields;
    this.plan = new AvroPlan(fields.size(), hasIds, programs);
    this.faults = Map.copyOf(faults);
    this.elements = new AvroFormat[fields.size()];
    for (int i = 0; i < elements.length; i++) {
      int field = i;
      if (fields.get(i).kind() == FieldType.LIST) {
        List<AvroProgram> inside =
            programs.stream().flatMap(program -> program.elements(field).stream()).toList();
        elements[i] = new AvroFormat(fields.get(i).elements(), false, inside, Map.of());
      }
    }
  }

  @Override
  public int bytes() {
    return plan.bytes();
  }

  @Override
  public void write(long fieldsAddress, long target) {
    plan.write(target);
  }

  @Override
  public RowReader rowReader(List<Target> targets, boolean exact) {
    return new AvroRecordReader(fields, plan, new RowBuilder(fields, targets, exact));
  }

  /** Copies a symbol, whose number is the position of the text. */
  @Override
  public void resolveEscapes(RecordField field, TextCursor text, int bytes, long target) {
    HostMemory.copyFromArray(target, plan.symbol(text.at()), 0, bytes);
  }

  @Override
  public Optional<String> schemaFault(int id) {
    return Optional.ofNullable(faults.get(id));
  }

  @Override
  public RecordFormat elements(int field) {
    return elements[field];
  }

  @Override
  public boolean hasPrograms() {
    return true;
  }

  /** Finds the elements of the list that begins with the step {@code number}. */
  @Override
  public void findElements(
      TextCursor list, int number, int count, long starts, long ends, long programs) {
    AvroCursor avro = new AvroCursor();
    avro.reset(list.address(), list.at(), list.end());
    AvroStepReader steps = new AvroStepReader(plan, avro);
    AvroStep begin = plan.step(number);
    long left = 0;
    for (int i = 0; i < count; i++) {
      long place = (long) i * Integer.BYTES;
      if (left == 0) {
        avro.readBlock(true, true);
        left = avro.integer();
      }
      left--;
      HostMemory.putInt(starts + place, avro.text.at());
      steps.read(number + 1, begin.next);
      HostMemory.putInt(ends + place, avro.text.at());
      HostMemory.putInt(programs + place, begin.size);
    }
  }
}
