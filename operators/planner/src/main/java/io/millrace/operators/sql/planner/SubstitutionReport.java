// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.KeptKinds;
import io.millrace.operators.sql.planner.node.MillraceRel;
import java.util.ArrayList;
import java.util.List;
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
  private static final String REPLACED = "replaced";
  private static final Map<String, Long> COUNTS = new TreeMap<>();

  private SubstitutionReport() {}

  static void count(RelNode root) {
    lines(root).forEach(SubstitutionReport::add);
  }

  /** A line for each node of a plan, from the sources to the sink. */
  static List<String> lines(RelNode root) {
    List<String> lines = new ArrayList<>();
    root.getInputs().forEach(input -> lines.addAll(lines(input)));
    lines.add(line(root));
    return lines;
  }

  private static String line(RelNode node) {
    if (node instanceof MillraceRel rel) {
      Decision<?> decision = rel.decision();
      return line(rel.kind(), decision.isSupported() ? REPLACED : decision.reason());
    }
    return line(KeptKinds.kind(node), KeptKinds.reason(node));
  }

  private static String line(String kind, String decision) {
    return kind + "\t" + decision;
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

  /** How many nodes of {@code kind} were decided about. */
  public static long total(String kind) {
    synchronized (COUNTS) {
      return COUNTS.entrySet().stream()
          .filter(count -> count.getKey().startsWith(line(kind, "")))
          .mapToLong(Map.Entry::getValue)
          .sum();
    }
  }

  /** How many nodes of {@code kind} were replaced, or would be if Millrace's nodes ran. */
  public static long replaced(String kind) {
    synchronized (COUNTS) {
      return COUNTS.getOrDefault(line(kind, REPLACED), 0L);
    }
  }
}
