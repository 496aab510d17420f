// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.PublicEvolving;

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
  private final String insert;
  private final String update;
  private final String delete;

  ChangeEnvelope(
      String before, String after, String operation, String insert, String update, String delete) {
    this.before = before;
    this.after = after;
    this.operation = operation;
    this.insert = insert;
    this.update = update;
    this.delete = delete;
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
    if (is(insert, text, from, to) || (this == DEBEZIUM && is("r", text, from, to))) {
      return Operation.INSERT;
    }
    if (is(update, text, from, to)) {
      return Operation.UPDATE;
    }
    if (is(delete, text, from, to)) {
      return Operation.DELETE;
    }
    return this == CANAL && is("CREATE", text, from, to) ? Operation.NONE : null;
  }

  private static boolean is(String name, byte[] text, int from, int to) {
    if (to - from != name.length()) {
      return false;
    }
    for (int i = 0; i < name.length(); i++) {
      if (text[from + i] != name.charAt(i)) {
        return false;
      }
    }
    return true;
  }
}
