// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.RandomValues;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Writes random records as JSON, in one of the many ways in which the same record can be written.
 */
final class RandomJson extends RandomValues {
  private static final String[] SPACES = {"", "", "", " ", "\t", "  \r"};
  private static final String[] SKIPPED = {
    "null", "-1.5e+10", "\"}\\\"\"", "{\"a\":[{},[]]}", "[1,\"]\",{\"b\":null}]", "true"
  };

  private final Random random;
  private final StringBuilder text;

  private RandomJson(Random random, StringBuilder text) {
    super(random);
    this.random = random;
    this.text = text;
  }

  /** Appends a record; its values, in the form of {@link io.millrace.testing.TableRows}. */
  static List<Object> record(Schema schema, Random random, StringBuilder text) {
    return new RandomJson(random, text).object(schema.fields());
  }

  private void space() {
    text.append(SPACES[random.nextInt(SPACES.length)]);
  }

  @Override
  protected List<Object> object(List<Field> fields) {
    Object[] values = new Object[fields.size()];
    List<Integer> order = new ArrayList<>(IntStream.range(0, fields.size()).boxed().toList());
    if (random.nextBoolean()) {
      Collections.shuffle(order, random);
    }
    String separator = "";
    space();
    text.append('{');
    for (int i : order) {
      Field field = fields.get(i);
      if (random.nextInt(10) == 0) {
        name(separator, "skipped" + random.nextInt(3));
        text.append(SKIPPED[random.nextInt(SKIPPED.length)]);
        separator = ",";
      }
      if (field.nullable() && random.nextInt(8) == 0) {
        if (random.nextBoolean()) {
          name(separator, field.name());
          text.append("null");
          separator = ",";
        }
        continue;
      }
      name(separator, field.name());
      values[i] = value(field.type());
      separator = ",";
    }
    space();
    text.append('}');
    space();
    return Arrays.asList(values);
  }

  @Override
  protected List<Object> list(DataType element) {
    List<Object> values = new ArrayList<>();
    text.append('[');
    space();
    int count = random.nextInt(random.nextInt(8) == 0 ? 40 : 4);
    for (int i = 0; i < count; i++) {
      text.append(i == 0 ? "" : ",");
      space();
      boolean isNull = random.nextInt(8) == 0;
      if (isNull) {
        text.append("null");
      }
      values.add(isNull ? null : value(element));
      space();
    }
    text.append(']');
    return values;
  }

  private void name(String separator, String name) {
    text.append(separator);
    space();
    string(name);
    space();
    text.append(':');
    space();
  }

  @Override
  protected void plain(String value) {
    text.append(value);
  }

  @Override
  protected void quoted(String value) {
    text.append('"').append(value).append('"');
  }

  @Override
  protected void string(String value) {
    text.append('"');
    for (int i = 0; i < value.length(); i++) {
      char next = value.charAt(i);
      boolean mustEscape = next == '"' || next == '\\' || next < ' ';
      if (mustEscape && "\"\\".indexOf(next) >= 0 && random.nextBoolean()) {
        text.append('\\').append(next);
      } else if (next == '\n' && random.nextBoolean()) {
        text.append("\\n");
      } else if (mustEscape || (random.nextInt(20) == 0 && !Character.isSurrogate(next))) {
        text.append(String.format(random.nextBoolean() ? "\\u%04x" : "\\u%04X", (int) next));
      } else {
        text.append(next);
      }
    }
    text.append('"');
  }
}
