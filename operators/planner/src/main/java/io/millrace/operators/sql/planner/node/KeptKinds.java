// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;

/**
 * The kinds of nodes of Flink's streaming plans of which Millrace replaces none, by their names in
 * EXPLAIN. A node of Flink's own class cannot say the reason in EXPLAIN: Millrace's node that takes
 * its rows does.
 */
@Internal
public final class KeptKinds {
  /** What the names of the classes of Flink's nodes have in front of their kinds. */
  static final String PREFIX = "StreamPhysical";

  private static final String JOIN = "there is no operator of joins on batches";
  private static final String ORDER = "there is no operator on batches that keeps rows in order";
  private static final String PYTHON = "Python functions run in processes of Flink's own";
  private static final String USERS = "functions of users in Java take and give rows";
  private static final String LEGACY = "it belongs to interfaces that Flink has replaced";

  private static final Map<String, String> REASONS =
      Map.ofEntries(
          Map.entry("Join", JOIN),
          Map.entry("IntervalJoin", JOIN),
          Map.entry("TemporalJoin", JOIN),
          Map.entry("WindowJoin", JOIN),
          Map.entry("MultiJoin", JOIN),
          Map.entry("DeltaJoin", JOIN),
          Map.entry("LookupJoin", "tables that rows are looked up in give rows"),
          Map.entry("WindowRank", ORDER),
          Map.entry("WindowDeduplicate", ORDER),
          Map.entry("OverAggregate", ORDER),
          Map.entry("Sort", ORDER),
          Map.entry("SortLimit", ORDER),
          Map.entry("TemporalSort", ORDER),
          Map.entry("Limit", "there is no operator on batches that counts rows up to a limit"),
          Map.entry("Match", "there is no operator on batches that finds patterns of rows"),
          Map.entry(
              "ChangelogNormalize", "there is no operator on batches that keeps the last rows"),
          Map.entry("Correlate", "table functions take and give rows"),
          Map.entry("AsyncCorrelate", "asynchronous functions take and give rows"),
          Map.entry("AsyncCalc", "asynchronous functions take and give rows"),
          Map.entry("ProcessTableFunction", USERS),
          Map.entry("GroupTableAggregate", USERS),
          Map.entry("GroupWindowTableAggregate", USERS),
          Map.entry("MLPredictTableFunction", "models take and give rows"),
          Map.entry("VectorSearchTableFunction", "tables that vectors are searched in give rows"),
          Map.entry("PythonCalc", PYTHON),
          Map.entry("PythonAsyncCalc", PYTHON),
          Map.entry("PythonCorrelate", PYTHON),
          Map.entry("PythonGroupAggregate", PYTHON),
          Map.entry("PythonGroupTableAggregate", PYTHON),
          Map.entry("PythonGroupWindowAggregate", PYTHON),
          Map.entry("PythonOverAggregate", PYTHON),
          Map.entry("LegacySink", LEGACY),
          Map.entry("LegacyTableSourceScan", LEGACY),
          Map.entry("DataStreamScan", "a DataStream of rows is its source"),
          Map.entry(
              "IntermediateTableScan",
              "it stands for a part of the plan that several sinks share, which has a plan of its"
                  + " own"));

  private KeptKinds() {}

  /** The kinds, each with the reason, in order. */
  public static Map<String, String> reasons() {
    return Collections.unmodifiableMap(new TreeMap<>(REASONS));
  }

  /** The kind of a node of Flink's. */
  public static String kind(RelNode node) {
    return node.getRelTypeName().replace(PREFIX, "");
  }

  /** Why a node about which nothing was decided stays Flink's. */
  public static String reason(RelNode node) {
    return REASONS.getOrDefault(kind(node), "a kind of node that Millrace does not know");
  }
}
