// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.sql;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A node of a plan, as EXPLAIN shows it with {@code millrace.sql} = {@code explain}.
 *
 * @param kind Flink's name of such nodes, such as "Calc"
 * @param isMillrace whether it would run on Millrace's operators
 * @param reason why it would not; empty if it would
 * @param host what the host computes although there is a GPU, and why; empty if there is nothing
 */
record ExplainedNode(String kind, boolean isMillrace, String reason, String host) {
  private static final String PHYSICAL = "== Optimized Physical Plan ==";
  private static final String EXECUTED = "== Optimized Execution Plan ==";
  private static final Pattern NODE = Pattern.compile("^[\\s|:+-]*(\\w+)\\((.*)$");
  private static final String REUSED = "Reused";
  // Flink makes de-duplications of rankings after the physical plan, in which their reasons are.
  private static final Map<String, String> PHYSICAL_KINDS = Map.of("Deduplicate", "Rank");
  private static final String UNKNOWN = "Millrace has no such node";

  /** The nodes that are executed, from the sinks to the sources; one that is shared counts once. */
  static List<ExplainedNode> of(String explanation) {
    int physical = explanation.indexOf(PHYSICAL);
    int executed = explanation.indexOf(EXECUTED);
    Map<String, String> reasons = new LinkedHashMap<>();
    explanation
        .substring(physical, executed)
        .lines()
        .map(NODE::matcher)
        .filter(Matcher::matches)
        .filter(node -> decision(node.group(2)).startsWith("no: "))
        .forEach(node -> reasons.put(node.group(1), decision(node.group(2))));
    List<ExplainedNode> nodes = new ArrayList<>();
    for (String line : explanation.substring(executed).lines().toList()) {
      Matcher node = NODE.matcher(line);
      if (node.matches() && !node.group(1).equals(REUSED)) {
        nodes.add(node(node.group(1), node.group(2), reasons));
      }
    }
    return nodes;
  }

  private static ExplainedNode node(String kind, String terms, Map<String, String> reasons) {
    String decision = decision(terms);
    if (decision.isEmpty()) {
      decision = reasons.getOrDefault(PHYSICAL_KINDS.getOrDefault(kind, kind), "no: " + UNKNOWN);
    }
    boolean isMillrace = decision.equals("yes");
    return new ExplainedNode(
        kind,
        isMillrace,
        isMillrace ? "" : decision.substring("no: ".length()),
        term(terms, "host"));
  }

  private static String decision(String terms) {
    return term(terms, "millrace");
  }

  // Behind all terms of Flink's.
  private static String term(String terms, String name) {
    int start = terms.lastIndexOf(name + "=[");
    if (start < 0) {
      return "";
    }
    int from = start + name.length() + 2;
    int depth = 1;
    for (int i = from; i < terms.length(); i++) {
      depth += terms.charAt(i) == '[' ? 1 : terms.charAt(i) == ']' ? -1 : 0;
      if (depth == 0) {
        return terms.substring(from, i);
      }
    }
    return terms.substring(from);
  }
}
