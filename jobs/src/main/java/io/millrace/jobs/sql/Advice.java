// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.sql;

import java.util.List;
import java.util.Optional;

/**
 * What users can change so that a node becomes Millrace's.
 *
 * @param reason a part of the reason that EXPLAIN gives for a node that stays Flink's
 */
record Advice(String reason, String text) {
  static final List<Advice> ALL =
      List.of(
          new Advice(
              "its source gives rows",
              "a table of a connector that gives batches, see docs/sql-tables.md; a Calc behind it"
                  + " makes batches of rows too"),
          new Advice(
              "its sink takes rows",
              "a table of a connector that takes batches, see docs/sql-tables.md"),
          new Advice(
              "its input gives rows", "it follows the node below it: see the reason of that one"),
          new Advice(
              "it does too little to make batches of rows",
              "nothing: it costs less in Flink, and becomes Millrace's between nodes of batches, or"
                  + " with SET 'millrace.sql.replace-cheap-nodes' = 'true'"),
          new Advice(
              "the host does all that costs time in it",
              "nothing: no GPU would compute it; it becomes Millrace's between nodes of batches, or"
                  + " with SET 'millrace.sql.replace-cheap-nodes' = 'true'"),
          new Advice(
              "phase stays Flink's", "it follows the other phase: see the reason of that one"),
          new Advice(
              "a first row by event time waits for watermarks",
              "SET 'table.exec.mini-batch.enabled' = 'true', with a size and a latency"),
          new Advice(
              "a consumer needs the rows before updates",
              "a sink with a primary key, or a query without an aggregate of the result"),
          new Advice(
              "is Java code of the user",
              "the aggregate of functions that SQL has, or one that implements"
                  + " BatchAggregateFunction, see docs/user-functions.md"),
          new Advice("disabled by an option", "RESET 'millrace.sql.disabled-nodes'"),
          new Advice(
              "a temporal join needs snapshots", "a lookup join, or another table for the join"));

  /** What would change a reason, if anything can. */
  static Optional<String> of(String reason) {
    return ALL.stream()
        .filter(advice -> reason.contains(advice.reason))
        .map(Advice::text)
        .findFirst();
  }
}
