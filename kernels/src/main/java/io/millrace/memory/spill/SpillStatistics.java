// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.annotation.PublicEvolving;
import io.millrace.memory.Buffer;
import io.millrace.memory.SpillTier;
import java.lang.StackWalker.StackFrame;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * Counts the work of spilling. Level 0 counts nothing. Level 1 counts moves, bytes and time for
 * each pair of tiers. Level 2 also records where memory was exposed, which makes it unspillable;
 * each exposure walks the stack. Thread-safe; a concurrent read may miss counts in progress.
 */
@PublicEvolving
public final class SpillStatistics {
  private static final List<SpillTier> TIERS = List.of(SpillTier.values());
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  private static final StackWalker STACK =
      StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

  private final int level;
  private final SpillStatistics parent;
  private final Map<SpillTier, Map<SpillTier, Moves>> moves = new EnumMap<>(SpillTier.class);
  private final Map<List<StackTraceElement>, Exposure> exposures = new ConcurrentHashMap<>();

  /**
   * Memory that was exposed at one site.
   *
   * @param site the callers, the innermost first, that are outside this package
   * @param count how often memory was exposed there
   * @param totalBytes the bytes exposed there in all
   * @param spilledBytes how many of them were not on the device then
   */
  public record Exposure(
      List<StackTraceElement> site, long count, long totalBytes, long spilledBytes) {
    private Exposure plus(Exposure other) {
      return new Exposure(
          site,
          count + other.count,
          totalBytes + other.totalBytes,
          spilledBytes + other.spilledBytes);
    }
  }

  private record Moves(LongAdder count, LongAdder bytes, LongAdder nanos) {
    private Moves() {
      this(new LongAdder(), new LongAdder(), new LongAdder());
    }
  }

  /**
   * @throws IllegalArgumentException if {@code level} is not 0, 1 or 2
   */
  public SpillStatistics(int level) {
    this(level, null);
  }

  /**
   * @param parent counts, as far as its own level goes, all that these statistics count; null if
   *     there is none
   * @throws IllegalArgumentException if {@code level} is not 0, 1 or 2
   */
  public SpillStatistics(int level, SpillStatistics parent) {
    if (level < 0 || level > 2) {
      throw new IllegalArgumentException(
          "expected 0, 1 or 2 as the level of spill statistics, got " + level);
    }
    this.level = level;
    this.parent = parent;
    for (SpillTier from : TIERS) {
      Map<SpillTier, Moves> targets = new EnumMap<>(SpillTier.class);
      TIERS.forEach(to -> targets.put(to, new Moves()));
      moves.put(from, targets);
    }
  }

  public int level() {
    return level;
  }

  /** Counts a move that took {@code nanos}, from level 1 on. */
  public void moved(SpillTier from, SpillTier to, long bytes, long nanos) {
    if (level == 0) {
      return;
    }
    Moves counted = moves(from, to);
    counted.count.increment();
    counted.bytes.add(bytes);
    counted.nanos.add(nanos);
    if (parent != null) {
      parent.moved(from, to, bytes, nanos);
    }
  }

  /**
   * Records, from level 2 on, that the caller exposes memory.
   *
   * @param wasSpilled whether the memory was not on the device
   */
  public void exposed(long bytes, boolean wasSpilled) {
    if (level == 2) {
      exposed(new Exposure(callers(), 1, bytes, wasSpilled ? bytes : 0));
    }
  }

  private void exposed(Exposure exposure) {
    if (level == 2) {
      exposures.merge(exposure.site, exposure, Exposure::plus);
      if (parent != null) {
        parent.exposed(exposure);
      }
    }
  }

  private static List<StackTraceElement> callers() {
    return STACK.walk(
        frames ->
            frames
                .dropWhile(frame -> belongsToMemory(frame.getDeclaringClass()))
                .map(StackFrame::toStackTraceElement)
                .toList());
  }

  private static boolean belongsToMemory(Class<?> type) {
    String memory = Buffer.class.getPackageName();
    String name = type.getPackageName();
    return name.equals(memory) || name.startsWith(memory + ".");
  }

  /** The number of moves; 0 at level 0. */
  public long count(SpillTier from, SpillTier to) {
    return moves(from, to).count.sum();
  }

  /** The bytes that moved; 0 at level 0. */
  public long bytes(SpillTier from, SpillTier to) {
    return moves(from, to).bytes.sum();
  }

  /** The time that moves took, summed over threads; 0 at level 0. */
  public long nanos(SpillTier from, SpillTier to) {
    return moves(from, to).nanos.sum();
  }

  private Moves moves(SpillTier from, SpillTier to) {
    return moves.get(from).get(to);
  }

  /** The call sites that exposed memory, the most frequent first; empty below level 2. */
  public List<Exposure> exposures() {
    return exposures.values().stream()
        .sorted(Comparator.comparingLong(Exposure::count).reversed())
        .toList();
  }

  /** The statistics in lines, in cuDF's form; times are in seconds. */
  @Override
  public String toString() {
    String title = "Spill Statistics (level=" + level + "):";
    if (level == 0) {
      return title + " N/A";
    }
    StringBuilder text = new StringBuilder(title);
    appendSection(text, "Spilling (level >= 1):", movesInLines());
    if (level == 2) {
      appendSection(text, "Exposed buffers (level >= 2):", exposuresInLines());
    }
    return text.toString();
  }

  private static void appendSection(StringBuilder text, String title, List<String> lines) {
    text.append("\n ").append(title);
    if (lines.isEmpty()) {
      text.append(" None");
    }
    lines.forEach(line -> text.append("\n  ").append(line));
  }

  private List<String> movesInLines() {
    return TIERS.stream()
        .flatMap(
            from ->
                TIERS.stream().filter(to -> count(from, to) > 0).map(to -> moveInLine(from, to)))
        .toList();
  }

  private String moveInLine(SpillTier from, SpillTier to) {
    double seconds = (double) nanos(from, to) / TimeUnit.SECONDS.toNanos(1);
    return String.format(
        Locale.ROOT,
        "%s => %s: %s in %.4f",
        from.label(),
        to.label(),
        formatBytes(bytes(from, to)),
        seconds);
  }

  private List<String> exposuresInLines() {
    return exposures().stream()
        .flatMap(
            exposure ->
                Stream.concat(
                    Stream.of(
                        String.format(
                            Locale.ROOT,
                            "exposed %d times, total: %s, spilled: %s, traceback:",
                            exposure.count,
                            formatBytes(exposure.totalBytes),
                            formatBytes(exposure.spilledBytes))),
                    exposure.site.stream().map(frame -> "  at " + frame)))
        .toList();
  }

  /** {@code 24B}, {@code 1.50KiB}, {@code 2MiB}: two decimals unless the number is whole. */
  static String formatBytes(long bytes) {
    double scaled = bytes;
    int unit = 0;
    while (scaled >= 1024) {
      scaled /= 1024;
      unit++;
    }
    boolean whole = scaled == Math.rint(scaled);
    return String.format(Locale.ROOT, whole ? "%.0f%s" : "%.2f%s", scaled, UNITS[unit]);
  }
}
