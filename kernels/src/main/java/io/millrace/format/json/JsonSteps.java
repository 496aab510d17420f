// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.format.write.WritePlan;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What a plan has to write values as JSON. */
@Internal
public final class JsonSteps {
  private static final byte[] HEX_DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

  private JsonSteps() {}

  /** Adds an object with a member for each of the next columns, which are fields. */
  public static void addObject(WritePlan.Builder plan, List<Field> fields) {
    plan.text('{');
    boolean isFirst = true;
    for (Field field : fields) {
      if (!isFirst) {
        plan.text(',');
      }
      isFirst = false;
      plan.text(quoted(field.name())).text(':');
      addNullable(plan, field);
    }
    plan.text('}');
  }

  private static void addNullable(WritePlan.Builder plan, Field field) {
    int column = plan.nextColumn();
    if (field.nullable()) {
      plan.nullable(column, NULL, () -> addValue(plan, column, field.type()));
    } else {
      addValue(plan, column, field.type());
    }
  }

  /** Adds the value of a column, the last one that the plan has given, which is not null. */
  public static void addValue(WritePlan.Builder plan, int column, DataType type) {
    switch (type.id()) {
      case STRING -> plan.escapedString(column);
      case LIST -> plan.list(column, () -> addNullable(plan, type.fields().get(0)));
      case STRUCT -> addObject(plan, type.fields());
      case DICTIONARY -> plan.dictionary(column, () -> addNullable(plan, type.fields().get(0)));
      case BOOL, INT8, INT16, INT32, INT64, DECIMAL32, DECIMAL64, DECIMAL128 ->
          plan.scalar(column, type, false);
      case FLOAT32,
              FLOAT64,
              DATE,
              TIME,
              TIMESTAMP_MILLIS,
              TIMESTAMP_MICROS,
              TIMESTAMP_NANOS,
              BINARY ->
          plan.scalar(column, type, true);
    }
  }

  /** A text as a string of JSON, as kernels write it. */
  static byte[] quoted(String text) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write('"');
    for (byte next : text.getBytes(StandardCharsets.UTF_8)) {
      switch (next) {
        case '"', '\\' -> writeEscape(out, next);
        case '\n' -> writeEscape(out, 'n');
        case '\r' -> writeEscape(out, 'r');
        case '\t' -> writeEscape(out, 't');
        default -> {
          if (next >= 0 && next < ' ') {
            out.writeBytes(new byte[] {'\\', 'u', '0', '0', HEX_DIGITS[next >> 4]});
            out.write(HEX_DIGITS[next & 15]);
          } else {
            out.write(next);
          }
        }
      }
    }
    out.write('"');
    return out.toByteArray();
  }

  private static void writeEscape(ByteArrayOutputStream out, int letter) {
    out.write('\\');
    out.write(letter);
  }
}
