// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.PublicEvolving;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** How records of changes hold the rows before and after a change. */
@PublicEvolving
public enum ChangeEnvelope {
  /**
   * Debezium's: a row {@code before} and a row {@code after} the change that {@code op} tells:
   * {@code c} and {@code r} insert, {@code u} updates, {@code d} deletes.
   */
  DEBEZIUM("before", "after", "op", "c", "u", "d"),
  /**
   * Canal's: arrays of rows, {@code data} and, for an update, {@code old}, whose rows have only
   * members that the update changed. {@code type} is {@code INSERT}, {@code UPDATE} or {@code
   * DELETE}; {@code CREATE} changes no row.
   */
  CANAL("old", "data", "type", "INSERT", "UPDATE", "DELETE");

  /** What a record does to rows. */
  enum Operation {
    INSERT,
    UPDATE,
    DELETE,
    /** Nothing to rows. */
    NONE
  }

  private final String before;
  private final String after;
  private final String operation;
  private final List<byte[]> operations;

  ChangeEnvelope(
      String before, String after, String operation, String insert, String update, String delete) {
    this.before = before;
    this.after = after;
    this.operation = operation;
    this.operations = List.of(ascii(insert), ascii(update), ascii(delete));
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** The member with rows before the change. */
  public String before() {
    return before;
  }

  /** The member with rows after the change; of Canal, also with deleted rows. */
  public String after() {
    return after;
  }

  /** The member with what was done. */
  public String operation() {
    return operation;
  }

  /** What a text from {@code from} to {@code to} stands for; null if for nothing. */
  Operation operation(byte[] text, int from, int to) {
    for (int i = 0; i < operations.size(); i++) {
      byte[] name = operations.get(i);
      if (Arrays.equals(text, from, to, name, 0, name.length)) {
        return Operation.values()[i];
      }
    }
    boolean isRead = this == DEBEZIUM && to - from == 1 && text[from] == 'r';
    if (isRead) {
      return Operation.INSERT;
    }
    byte[] create = ascii("CREATE");
    boolean isCreate = this == CANAL && Arrays.equals(text, from, to, create, 0, create.length);
    return isCreate ? Operation.NONE : null;
  }
}
