// SPDX-License-Identifier: Apache-2.0
package io.millrace.benchmark;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;

/**
 * Runs JMH benchmarks and prints their median times as one table in Markdown.
 *
 * <p>A benchmark class {@code LibcudfX} is the counterpart of the class {@code X}: results with
 * equal parameters share a line. The parameter {@code rows} adds a rate in rows, {@code bytes} one
 * in bytes, {@code resource} how many times as fast it is as the resource {@code CUDA}. Times are
 * in microseconds.
 */
public final class BenchmarkTable {
  private static final String COUNTERPART = "Libcudf";
  private static final double MEDIAN = 50;
  private static final String RESOURCE = "resource";
  private static final String BASELINE_RESOURCE = "CUDA";

  /** The key of a line: class and method without the counterpart's prefix, and parameters. */
  private record Line(String operation, Map<String, String> parameters) {}

  private record Times(Double ours, Double libcudf) {
    Times with(boolean counterpart, double time) {
      return counterpart ? new Times(ours, time) : new Times(time, libcudf);
    }
  }

  private BenchmarkTable() {}

  /**
   * Runs the benchmarks that match.
   *
   * @param arguments JMH's command-line arguments
   */
  public static void main(String[] arguments) throws RunnerException, CommandLineOptionException {
    Collection<RunResult> results = new Runner(new CommandLineOptions(arguments)).run();
    format(results).forEach(System.out::println);
  }

  private static List<String> format(Collection<RunResult> results) {
    Map<Line, Times> lines =
        new TreeMap<>(
            Comparator.comparing(Line::operation)
                .thenComparing(line -> sortKey(line.parameters().values())));
    for (RunResult result : results) {
      BenchmarkParams params = result.getParams();
      String operation = operation(params);
      boolean counterpart = operation.startsWith(COUNTERPART);
      Line line =
          new Line(
              counterpart ? operation.substring(COUNTERPART.length()) : operation,
              parameters(params));
      double time = result.getPrimaryResult().getStatistics().getPercentile(MEDIAN);
      Times times = lines.getOrDefault(line, new Times(null, null));
      lines.put(line, times.with(counterpart, time));
    }
    List<String> table = new ArrayList<>();
    table.add("| operation | parameters | ours (us) | rate | libcudf (us) | libcudf / ours |");
    table.add("|---|---|---:|---:|---:|---:|");
    lines.forEach((line, times) -> table.add(format(line, times, lines)));
    return table;
  }

  private static String format(Line line, Times times, Map<Line, Times> lines) {
    return String.format(
        "| %s | %s | %s | %s | %s | %s |",
        line.operation(),
        String.join(
            ", ",
            line.parameters().entrySet().stream()
                .map(e -> e.getKey() + "=" + e.getValue())
                .toList()),
        number(times.ours()),
        times.ours() == null ? "" : rate(line, times.ours(), lines),
        number(times.libcudf()),
        times.ours() == null || times.libcudf() == null
            ? ""
            : number(times.libcudf() / times.ours()));
  }

  private static String operation(BenchmarkParams params) {
    String[] names = params.getBenchmark().split("\\.", -1);
    return names[names.length - 2] + "." + names[names.length - 1];
  }

  private static Map<String, String> parameters(BenchmarkParams params) {
    Map<String, String> parameters = new TreeMap<>(Comparator.reverseOrder());
    params.getParamsKeys().forEach(key -> parameters.put(key, params.getParam(key)));
    return parameters;
  }

  /** Numbers sort by value: they are padded to equal width. */
  private static String sortKey(Collection<String> values) {
    return String.join(",", values.stream().map(value -> String.format("%20s", value)).toList());
  }

  private static String rate(Line line, double microseconds, Map<Line, Times> lines) {
    Map<String, String> parameters = line.parameters();
    if (parameters.containsKey("rows")) {
      return number(Long.parseLong(parameters.get("rows")) / microseconds) + " M rows/s";
    }
    if (parameters.containsKey("bytes")) {
      return number(Long.parseLong(parameters.get("bytes")) / microseconds / 1000) + " GB/s";
    }
    Times baseline = parameters.containsKey(RESOURCE) ? lines.get(baseline(line)) : null;
    return baseline == null
        ? ""
        : number(baseline.ours() / microseconds) + "x " + BASELINE_RESOURCE;
  }

  private static Line baseline(Line line) {
    Map<String, String> parameters = new TreeMap<>(Comparator.reverseOrder());
    parameters.putAll(line.parameters());
    parameters.put(RESOURCE, BASELINE_RESOURCE);
    return new Line(line.operation(), parameters);
  }

  private static String number(Double value) {
    return value == null ? "" : String.format(Locale.ROOT, value < 100 ? "%.2f" : "%.0f", value);
  }
}
