// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;
import io.millrace.format.record.RecordField;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RecordFormat;
import io.millrace.format.record.RecordKernels.Target;
import io.millrace.format.record.RowBuilder;
import io.millrace.format.record.RowReader;
import io.millrace.format.text.TextCursor;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Records of JSON objects, or elements of lists in them. A {@code JsonPlan} lies behind the fields,
 * and behind it the names of members.
 */
final class JsonFormat implements RecordFormat {
  /** The structure {@code JsonPlan} of json_value.cuh. */
  static final class Layout {
    static final KernelStructure LAYOUT = new KernelStructure("JsonPlan");
    static final KernelStructure.Int32 IS_ELEMENT = LAYOUT.int32("is_element");
    static final KernelStructure.Int32 UNUSED = LAYOUT.int32("unused");

    private Layout() {}
  }

  private final RecordFields fields;
  private final boolean isChange;
  private final List<JsonName> names;
  // By field; null where a field is no list.
  private final JsonFormat[] elements;

  /**
   * @param isChange whether booleans and numbers may be strings, a record may have a further text,
   *     and lists may be objects
   */
  JsonFormat(RecordFields fields, boolean isChange) {
    this.fields = fields;
    this.isChange = isChange;
    this.names =
        IntStream.range(0, fields.size())
            .mapToObj(i -> new JsonName(fields.get(i).name()))
            .toList();
    this.elements = new JsonFormat[fields.size()];
    for (int i = 0; i < elements.length; i++) {
      RecordFields inside = fields.get(i).elements();
      elements[i] = inside == null ? null : new JsonFormat(inside, isChange);
    }
  }

  @Override
  public int bytes() {
    return Layout.LAYOUT.bytes() + names.stream().mapToInt(JsonName::wordBytes).sum();
  }

  @Override
  public void write(long address, long target) {
    HostMemory.putInt(target + Layout.IS_ELEMENT.offset(), fields.areElements() ? 1 : 0);
    HostMemory.putInt(target + Layout.UNUSED.offset(), 0);
    long next = target + Layout.LAYOUT.bytes();
    for (int i = 0; i < names.size(); i++) {
      JsonName name = names.get(i);
      RecordFields.put(address, i, RecordFields.Layout.NAME, (int) (next - address));
      RecordFields.put(address, i, RecordFields.Layout.NAME_BYTES, name.bytes());
      RecordFields.put(address, i, RecordFields.Layout.HAS_ESCAPES, name.hasEscapes() ? 1 : 0);
      name.write(next);
      next += name.wordBytes();
    }
  }

  @Override
  public RowReader rowReader(List<Target> targets, boolean exact) {
    return new JsonRecordReader(fields, names, new RowBuilder(fields, targets, exact), isChange);
  }

  @Override
  public void resolveEscapes(RecordField field, TextCursor text, int bytes, long target) {
    if (field.isBinary()) {
      JsonText.decodeBase64(text, bytes, target);
    } else {
      JsonText.resolveEscapes(text, bytes, target);
    }
  }

  @Override
  public RecordFormat elements(int field) {
    return elements[field];
  }

  @Override
  public void findElements(
      TextCursor list, int number, int count, long starts, long ends, long programs) {
    new JsonText().findElements(list, count, starts, ends);
  }
}
