// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.sql;

import io.millrace.jobs.sql.ScriptExplanation.Outcome;
import io.millrace.jobs.sql.ScriptExplanation.Result;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Prints which nodes of a script's queries would run on Millrace's operators, and why others not.
 */
final class ExplanationReport {
  private static final int SHOWN_CHARACTERS = 90;

  private final PrintStream out;
  private final List<Result> results;

  ExplanationReport(PrintStream out, List<Result> results) {
    this.out = out;
    this.results = results;
  }

  boolean hasFailure() {
    return results.stream().anyMatch(result -> result.outcome() == Outcome.FAILED);
  }

  /** Whether each node of each query would be Millrace's. */
  boolean isWhollyMillrace() {
    return results.stream().allMatch(Result::isWhollyMillrace);
  }

  void print() {
    results.forEach(this::print);
    printSummary();
    printAdvice();
  }

  private void print(Result result) {
    switch (result.outcome()) {
      case DEFINED -> {}
      case LEFT_OUT -> out.printf("line %d, left out: %s%n", result.line(), shown(result.text()));
      case FAILED -> {
        out.printf("line %d, failed: %s%n", result.line(), shown(result.text()));
        result.failure().lines().forEach(line -> out.println("    " + line));
      }
      case PLANNED -> {
        out.printf("line %d: %s%n", result.line(), shown(result.text()));
        result.nodes().forEach(this::print);
      }
    }
  }

  private void print(ExplainedNode node) {
    String remark = node.isMillrace() ? host(node) : node.reason();
    out.println(
        "  %-8s  %-24s  %s"
            .formatted(node.isMillrace() ? "Millrace" : "Flink", node.kind(), remark)
            .stripTrailing());
  }

  private static String host(ExplainedNode node) {
    return node.host().isEmpty() ? "" : "on the host: " + node.host();
  }

  private static String shown(String text) {
    String line = text.replaceAll("\\s+", " ");
    return line.length() <= SHOWN_CHARACTERS ? line : line.substring(0, SHOWN_CHARACTERS) + " ...";
  }

  private void printSummary() {
    List<Result> queries =
        results.stream().filter(result -> result.outcome() == Outcome.PLANNED).toList();
    List<ExplainedNode> nodes = queries.stream().flatMap(query -> query.nodes().stream()).toList();
    out.printf(
        "%n%d of %d nodes would run on Millrace's operators; %d of %d queries wholly%n",
        nodes.stream().filter(ExplainedNode::isMillrace).count(),
        nodes.size(),
        queries.stream().filter(Result::isWhollyMillrace).count(),
        queries.size());
  }

  private void printAdvice() {
    Map<String, Integer> reasons = new LinkedHashMap<>();
    results.stream()
        .flatMap(result -> result.nodes().stream())
        .filter(node -> !node.isMillrace())
        .forEach(node -> reasons.merge(node.kind() + ": " + node.reason(), 1, Integer::sum));
    if (reasons.isEmpty()) {
      return;
    }
    out.println("What would change the others:");
    reasons.forEach(
        (reason, count) -> {
          out.printf("  %d x %s%n", count, reason);
          out.println("      " + Advice.of(reason).orElse("nothing that a script can set"));
        });
  }
}
