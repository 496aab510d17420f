// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.function;

import java.util.Set;

/** Why expressions have no function of the name that Flink gives it. */
enum KnownGap {
  NESTED_VALUES(
      "takes or gives a multiset or a value of a type that no column holds",
      "AT DOT MULTISET OBJECT_OF OBJECT_UPDATE"),
  BITMAPS(
      "host: Flink's class is called",
      "BITMAP_AND BITMAP_ANDNOT BITMAP_BUILD BITMAP_CARDINALITY BITMAP_FROM_BYTES BITMAP_OR"
          + " BITMAP_TO_ARRAY BITMAP_TO_BYTES BITMAP_TO_STRING BITMAP_XOR"),
  JSON(
      "reads or writes JSON as a value of a type that no column holds, or is another function here",
      "IS_JSON PARSE_JSON TRY_PARSE_JSON"),
  RARE("is rare and not written yet", "$HASHCODE$1 PRINT"),
  OTHER_NAME(
      "is another function here: CASE, a cast, a comparison, TRIM TO a unit or arithmetic",
      "AGG_DECIMAL_PLUS /INT CASE CAST DEFAULT HIVE_AGG_DECIMAL_PLUS IFTHENELSE LOWERCASE"
          + " NOTBETWEEN REINTERPRET REINTERPRET_CAST TRY_CAST UPPERCASE BETWEEN·ASYMMETRIC"
          + " BETWEEN·SYMMETRIC NOT·BETWEEN·ASYMMETRIC NOT·BETWEEN·SYMMETRIC OVERLAPS SEARCH"
          + " TEMPORALOVERLAPS $LITERALCHAIN"),
  OF_THE_PLANNER(
      "is a constant to the planner, or a part of a query that no expression of a row contains",
      "AS TYPEOF CLASSIFIER CURRENTDATABASE CURRENT_DATABASE DESC DESCRIPTOR EXCEPT EXCEPT·ALL EXISTS"
          + " FINAL FIRST HOP_END HOP_PROCTIME HOP_ROWTIME HOP_START IGNORE·NULLS INTERSECT"
          + " INTERSECT·ALL LAST MATCH_PROCTIME MATCH_ROWTIME NEXT NULLS·FIRST NULLS·LAST PREV"
          + " RESPECT·NULLS RUNNING SESSION_END SESSION_PROCTIME SESSION_ROWTIME SESSION_START"
          + " SKIP·TO·FIRST SKIP·TO·LAST SOURCE_WATERMARK STREAMRECORD_TIMESTAMP TUMBLE_END"
          + " TUMBLE_PROCTIME TUMBLE_ROWTIME TUMBLE_START UNION UNION·ALL $HOP $SCALAR_QUERY"
          + " $SESSION $TUMBLE");

  private final String reason;
  private final String names;

  KnownGap(String reason, String names) {
    this.reason = reason;
    this.names = names;
  }

  String reason() {
    return reason;
  }

  /** The names, with {@code ·} for a space. */
  Set<String> names() {
    return Set.of(names.split(" "));
  }
}
