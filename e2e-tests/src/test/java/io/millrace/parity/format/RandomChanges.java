// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.format.record.ChangeEnvelope;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.formats.common.TimestampFormat;

/**
 * Writes random changes that both Millrace and Flink's formats read, and some that both find
 * malformed.
 */
final class RandomChanges extends RandomRecords {
  private static final int MAX_ROWS = 3;

  private final ChangeEnvelope envelope;
  private final boolean isLean;

  /**
   * @param isLean whether a record has no more rows than one before and one after its change, and
   *     only those that its operation needs
   */
  RandomChanges(Random random, ChangeEnvelope envelope, boolean isLean) {
    // Flink's trees have no negative zeros.
    super(random, TimestampFormat.SQL, false);
    this.envelope = envelope;
    this.isLean = isLean;
  }

  /** A change of rows with the fields; now and then a record without text. */
  String change(List<Field> fields, boolean hasSchema) {
    if (random.nextInt(50) == 0) {
      return "";
    }
    String members = envelope == ChangeEnvelope.CANAL ? canal(fields) : debezium(fields);
    if (!hasSchema) {
      return members;
    }
    Map<String, String> outer = new TreeMap<>();
    outer.put("payload", members);
    outer.put("schema", unknown());
    return object(outer);
  }

  private String debezium(List<Field> fields) {
    String operation = oneOf("c", "r", "u", "u", "d", random.nextInt(20) == 0 ? "x" : "c");
    boolean needsBefore = "ud".contains(operation) && random.nextInt(30) > 0;
    boolean needsAfter = !operation.equals("d") && random.nextInt(30) > 0;
    Map<String, String> members = new TreeMap<>();
    putOrOmit(members, "before", needsBefore || (!isLean && rarely()) ? record(fields) : "null");
    putOrOmit(members, "after", needsAfter || (!isLean && rarely()) ? record(fields) : "null");
    members.put("op", written(operation));
    members.put("source", unknown());
    members.put("ts_ms", "1");
    return object(members);
  }

  private String canal(List<Field> fields) {
    String operation =
        oneOf("INSERT", "UPDATE", "UPDATE", "DELETE", rarely() ? "CREATE" : "UPDATE");
    Map<String, String> members = new TreeMap<>();
    int rows = random.nextInt(isLean ? 2 : MAX_ROWS + 1);
    boolean isNull = random.nextInt(20) == 0;
    putOrOmit(members, "data", isNull ? "null" : array(rows, fields, false));
    List<Field> changed = new ArrayList<>(fields);
    changed.removeIf(field -> random.nextBoolean());
    boolean isUpdate = operation.equals("UPDATE");
    boolean hasOld = isUpdate && random.nextInt(20) > 0;
    putOrOmit(members, "old", hasOld ? array(rows, changed, true) : "null");
    members.put("type", written(random.nextInt(20) == 0 ? "ALTER" : operation));
    members.put("database", unknown());
    members.put("isDdl", "false");
    return object(members);
  }

  private static void putOrOmit(Map<String, String> members, String name, String value) {
    if (!value.equals("null") || members.isEmpty()) {
      members.put(name, value);
    }
  }

  /**
   * @param isWhole whether each row has each of the fields: Flink takes a member of any old row for
   *     one of each
   */
  private String array(int rows, List<Field> fields, boolean isWhole) {
    StringBuilder array = new StringBuilder("[");
    for (int i = 0; i < rows; i++) {
      array.append(i == 0 ? "" : ",").append(isWhole ? whole(fields) : record(fields));
    }
    return array.append("]").toString();
  }

  private String whole(List<Field> fields) {
    Map<String, String> members = new TreeMap<>();
    for (Field field : fields) {
      members.put(field.name(), rarely() ? "null" : text(field.type()));
    }
    return object(members);
  }

  private String text(DataType type) {
    text = new StringBuilder();
    value(type);
    return text.toString();
  }

  private String written(String value) {
    text = new StringBuilder();
    string(value);
    return text.toString();
  }

  private String unknown() {
    text = new StringBuilder();
    unknownValue(random.nextInt(5));
    return text.toString();
  }

  private String object(Map<String, String> members) {
    List<String> names = new ArrayList<>(members.keySet());
    Collections.shuffle(names, random);
    text = new StringBuilder();
    space();
    String separator = "{";
    for (String name : names) {
      name(separator, name);
      text.append(members.get(name));
      space();
      separator = ",";
    }
    return (names.isEmpty() ? text.append("{}") : text.append("}")).toString();
  }

  @Override
  protected void value(DataType type) {
    boolean isPlain =
        switch (type.id()) {
          case BOOL, INT8, INT16, INT32, INT64, FLOAT32, FLOAT64 -> true;
          default -> false;
        };
    if (!isPlain || random.nextBoolean()) {
      super.value(type);
      return;
    }
    StringBuilder before = text;
    text = new StringBuilder();
    super.value(type);
    String value = text.toString().replace("\"", "");
    text = before.append('"').append(value).append('"');
  }
}
