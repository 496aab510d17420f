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

  private static boolean isName(byte[] text, int from, int to, String name) {
    boolean equal = to - from == name.length();
    for (int i = 0; equal && i < name.length(); i++) {
      equal = text[from + i] == name.charAt(i);
    }
    return equal;
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
    if (isName(text, from, to, insert) || (this == DEBEZIUM && isName(text, from, to, "r"))) {
      return Operation.INSERT;
    }
    if (isName(text, from, to, update)) {
      return Operation.UPDATE;
    }
    if (isName(text, from, to, delete)) {
      return Operation.DELETE;
    }
    boolean isCreate = this == CANAL && isName(text, from, to, "CREATE");
    return isCreate ? Operation.NONE : null;
  }
}
