// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RecordFields.Layout;
import io.millrace.format.record.RecordFormat;
import io.millrace.format.record.RecordKernels.Target;
import io.millrace.format.record.RowBuilder;
import io.millrace.format.record.RowReader;
import io.millrace.format.text.TextCursor;
import java.util.List;
import java.util.stream.IntStream;

/** Records of JSON objects. The names of members lie behind the fields. */
final class JsonFormat implements RecordFormat {
  private final RecordFields fields;
  private final List<JsonName> names;

  JsonFormat(RecordFields fields) {
    this.fields = fields;
    this.names =
        IntStream.range(0, fields.size())
            .mapToObj(i -> new JsonName(fields.get(i).name()))
            .toList();
  }

  @Override
  public int bytes() {
    return names.stream().mapToInt(JsonName::wordBytes).sum();
  }

  @Override
  public void write(long address, long target) {
    long next = target;
    for (int i = 0; i < names.size(); i++) {
      JsonName name = names.get(i);
      RecordFields.put(address, i, Layout.NAME, (int) (next - address));
      RecordFields.put(address, i, Layout.NAME_BYTES, name.bytes());
      RecordFields.put(address, i, Layout.HAS_ESCAPES, name.hasEscapes() ? 1 : 0);
      name.write(next);
      next += name.wordBytes();
    }
  }

  @Override
  public RowReader rowReader(List<Target> targets, boolean exact) {
    return new JsonRecordReader(fields, names, new RowBuilder(fields, targets, exact));
  }

  @Override
  public void resolveEscapes(TextCursor text, int bytes, long target) {
    JsonText.resolveEscapes(text, bytes, target);
  }
}
