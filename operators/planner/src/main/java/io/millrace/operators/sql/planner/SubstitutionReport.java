// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner;

import io.millrace.operators.sql.planner.node.MillraceRel;
import java.util.Map;
import java.util.TreeMap;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;

/**
 * What was decided about the nodes of all plans of this process, for tests and for a look at what a
 * set of queries lacks.
 */
@Internal
public final class SubstitutionReport {
  private static final String PREFIX = "StreamPhysical";
  private static final Map<String, Long> COUNTS = new TreeMap<>();

  private SubstitutionReport() {}

  static void count(RelNode node) {
    node.getInputs().forEach(SubstitutionReport::count);
    add(
        node instanceof MillraceRel rel
            ? rel.kind()
                + "\t"
                + (rel.decision().isSupported() ? "replaced" : rel.decision().reason())
            : node.getRelTypeName().replace(PREFIX, "") + "\tno such node in Millrace");
  }

  private static void add(String key) {
    synchronized (COUNTS) {
      COUNTS.merge(key, 1L, Long::sum);
    }
  }

  /** A line for each kind of node and decision: the number of nodes, the kind, the decision. */
  public static String text() {
    StringBuilder text = new StringBuilder();
    synchronized (COUNTS) {
      COUNTS.forEach((key, count) -> text.append(count).append('\t').append(key).append('\n'));
    }
    return text.toString();
  }

  /** How many nodes of {@code kind} were replaced, or would be if Millrace's nodes ran. */
  public static long replaced(String kind) {
    synchronized (COUNTS) {
      return COUNTS.getOrDefault(kind + "\treplaced", 0L);
    }
  }
}
