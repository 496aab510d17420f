// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.function;

import java.util.Set;

/** Why an aggregate function of Flink has no form on batches. */
enum AggregateGap {
  NESTED_VALUES(
      "collects values in an array, a multiset or a JSON text",
      "ARRAY_AGG COLLECT JSON_ARRAYAGG JSON_ARRAYAGG_ABSENT_ON_NULL JSON_ARRAYAGG_NULL_ON_NULL"
          + " JSON_OBJECTAGG JSON_OBJECTAGG_ABSENT_ON_NULL JSON_OBJECTAGG_NULL_ON_NULL"),
  BITMAPS(
      "looks into bitmaps, which columns hold as bytes",
      "BITMAP_AND_AGG BITMAP_AND_CARDINALITY_AGG BITMAP_BUILD_AGG BITMAP_BUILD_CARDINALITY_AGG"
          + " BITMAP_OR_AGG BITMAP_OR_CARDINALITY_AGG BITMAP_XOR_AGG BITMAP_XOR_CARDINALITY_AGG"),
  RARE("is rare and not written yet", "APPROX_COUNT_DISTINCT PERCENTILE"),
  OF_ORDERED_ROWS(
      "numbers rows or looks at rows beside a row: of OVER, which stays Flink's",
      "CUME_DIST DENSE_RANK LAG LEAD NTILE PERCENT_RANK RANK ROW_NUMBER"),
  OF_THE_PLANNER(
      "is a name of which the planner makes other functions",
      "AUXILIARY_GROUP DISTINCT GROUPING GROUPING_ID GROUP_ID SINGLE_VALUE STDDEV SUM0 VARIANCE");

  private final String reason;
  private final String names;

  AggregateGap(String reason, String names) {
    this.reason = reason;
    this.names = names;
  }

  String reason() {
    return reason;
  }

  Set<String> names() {
    return Set.of(names.split(" "));
  }
}
