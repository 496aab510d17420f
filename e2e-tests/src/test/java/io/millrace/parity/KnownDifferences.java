package io.millrace.parity;

import io.millrace.expression.Expression;
import io.millrace.testing.CalcResults.RowFailure;
import io.millrace.testing.RandomExpressions;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Functions that are not Flink's for some arguments, as their documentation says, and why. */
final class KnownDifferences {
  /** Flink calls Math, whose results these are near to: units in the last place. */
  private static final Map<String, Integer> ULPS =
      Map.ofEntries(
          Map.entry("COS", 1),
          Map.entry("COT", 2),
          Map.entry("EXP", 1),
          Map.entry("LN", 1),
          Map.entry("LOG", 1),
          Map.entry("LOG10", 1),
          Map.entry("LOG2", 1),
          Map.entry("POWER", 1),
          Map.entry("SIN", 1),
          Map.entry("TAN", 1));

  private static final Set<String> TRIMS =
      Set.of("TRIM", "TRIM LEADING", "TRIM TRAILING", "BTRIM", "LTRIM", "RTRIM");

  private KnownDifferences() {}

  /** Whether a call of {@code function} on these arguments gives what it should beside Flink. */
  static boolean admit(String function, List<Object> arguments, Object ours, Object flinks) {
    if (ours instanceof Double a && flinks instanceof Double b && ULPS.containsKey(function)) {
      return Math.abs(a - b) <= ULPS.get(function) * Math.ulp(Math.max(Math.abs(a), Math.abs(b)));
    }
    if (ours instanceof RowFailure && isBeyondMicros(flinks)) {
      return true;
    }
    return TRIMS.contains(function)
        ? hasOddTrimSet(arguments)
        : function.equals("TRY_CAST") && isNotFinite(arguments.get(0));
  }

  /** Flink takes a set that begins with a space for a space, and divides by an empty one's size. */
  private static boolean hasOddTrimSet(List<Object> arguments) {
    return arguments.size() > 1
        && arguments.get(1) instanceof String set
        && (set.isEmpty() || set.startsWith(" "));
  }

  /** Flink cannot make a decimal of these even in TRY_CAST. */
  private static boolean isNotFinite(Object value) {
    return value instanceof Number number && !Double.isFinite(number.doubleValue());
  }

  /** A column of TIMESTAMP(4..6) holds microseconds in 64 bits, which Flink's millis exceed. */
  private static boolean isBeyondMicros(Object timestamp) {
    Instant instant =
        timestamp instanceof LocalDateTime local
            ? local.toInstant(ZoneOffset.UTC)
            : timestamp instanceof Instant zoned ? zoned : Instant.EPOCH;
    return Math.abs(instant.getEpochSecond()) > Long.MAX_VALUE / 1_000_000 - 1;
  }

  /**
   * Whether no function of the expression is known to differ, but for TRY_CAST, and no planner
   * simplifies it: a FLOOR of a FLOOR is one to Flink.
   */
  static boolean hasNone(Expression expression) {
    Set<String> functions = RandomExpressions.functionsOf(expression);
    return !functions.contains("TIMESTAMPADD")
        && functions.stream().noneMatch(ULPS::containsKey)
        && functions.stream().noneMatch(TRIMS::contains)
        && !expression.toString().matches(".*(FLOOR|CEIL)\\((FLOOR|CEIL)\\(.* TO .*");
  }
}
