// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner;

import io.millrace.operators.sql.planner.node.KeptKinds;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;

/**
 * The kinds of nodes of Flink's streaming plans of which Millrace replaces nodes, by their names in
 * EXPLAIN, and under which condition. {@link KeptKinds} has the others.
 */
@Internal
public final class NodeKinds {
  private static final String BATCHES = "its input gives batches";
  private static final String KEYS =
      "at most 16 keys, none an ARRAY or a ROW, nor a FLOAT or DOUBLE of an input that gives rows";

  private static final String AGGREGATES = "each aggregate is one of Millrace's";

  private static final Map<String, String> CONDITIONS =
      Map.ofEntries(
          Map.entry(
              "TableSourceScan",
              "its connector implements BatchScanTableSource, and no temporal join needs its"
                  + " snapshots"),
          Map.entry(
              "Sink",
              "its connector implements BatchDynamicTableSink, and Flink would put nothing in front"
                  + " of it but the check of NOT NULL columns"),
          Map.entry("Values", "a consumer takes batches"),
          Map.entry("WatermarkAssigner", BATCHES + ", and watermarks have up to 3 digits"),
          Map.entry("MiniBatchAssigner", BATCHES),
          Map.entry(
              "Calc",
              "each function has Millrace's form and each type can be a column. Of rows, only the"
                  + " fields that are read become columns, also those in a ROW. One that only"
                  + " chooses fields stays Flink's between operators of rows. So does one with a"
                  + " seed of RAND or RAND_INTEGER, whose values depend on the rows before."
                  + " CURRENT_WATERMARK ends batches at watermarks where rows become batches;"
                  + " otherwise watermarks may not be held back"),
          Map.entry("DropUpdateBefore", BATCHES),
          Map.entry(
              "Exchange",
              BATCHES
                  + ", and rows are sent by keys or to one subtask, not to a node of Flink's with"
                  + " several inputs: such a node is not chained to what receives batches, so that"
                  + " rows would be serialized once more"),
          Map.entry("Union", "all its inputs give batches"),
          Map.entry(
              "Deduplicate",
              "a ROW_NUMBER() of 1 with PARTITION BY, by a time attribute, of insertions, whose"
                  + " number is not selected; "
                  + KEYS
                  + ". No consumer needs the rows before"
                  + " updates or, as a temporal join does, all versions of a row. The first"
                  + " row by event time only in mini-batch mode, as Flink waits for watermarks"
                  + " otherwise. A node that stays Flink's is a Rank in the physical plan, where the"
                  + " reason is"),
          Map.entry(
              "Expand",
              "no column is an ARRAY, a MAP or a ROW. It stays Flink's between operators of rows"),
          Map.entry(
              "GroupAggregate",
              AGGREGATES
                  + ", also over a changelog, with DISTINCT and FILTER; also without keys, or without"
                  + " aggregates; "
                  + KEYS
                  + "; there is no hint STATE_TTL. The option table.exec.state.ttl holds"),
          Map.entry(
              "LocalGroupAggregate",
              "as GroupAggregate, and the second phase is replaced. Aggregates that two phases"
                  + " cannot combine, such as those with DISTINCT, are sent as rows: sends=[rows]"),
          Map.entry("GlobalGroupAggregate", "as GroupAggregate, and the first phase is replaced"),
          Map.entry(
              "IncrementalGroupAggregate",
              "as GroupAggregate, and the phases in front of it and behind it are replaced"),
          Map.entry(
              "WindowAggregate",
              "TUMBLE, HOP, CUMULATE and SESSION windows over a time attribute; "
                  + AGGREGATES
                  + ", without DISTINCT; "
                  + KEYS),
          Map.entry(
              "LocalWindowAggregate",
              "as WindowAggregate, and the second phase is replaced. Rows are sent as they are"),
          Map.entry("GlobalWindowAggregate", "as WindowAggregate, and the first phase is replaced"),
          Map.entry(
              "GroupWindowAggregate",
              "as WindowAggregate, by GROUP BY TUMBLE(...), HOP(...) and SESSION(...), without early"
                  + " or late results, over times and not numbers of rows"),
          Map.entry(
              "WindowTableFunction",
              "TUMBLE, HOP and CUMULATE whose rows no aggregate takes. The windows of SESSION depend"
                  + " on rows to come"));

  private NodeKinds() {}

  /** The kinds of which Millrace replaces nodes, each with the condition, in order. */
  public static Map<String, String> replaced() {
    return Collections.unmodifiableMap(new TreeMap<>(CONDITIONS));
  }

  /** The kinds and classes of Flink's nodes that are decided about one by one. */
  public static Map<String, Class<? extends RelNode>> matched() {
    Map<String, Class<? extends RelNode>> matched = new TreeMap<>();
    for (NodeMatcher<?, ?> matcher : NodeReplacement.MATCHERS) {
      matched.put(matcher.kind(), matcher.type());
    }
    return matched;
  }
}
