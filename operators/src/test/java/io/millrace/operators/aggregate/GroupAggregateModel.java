// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.row.RowKindColumn;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.apache.flink.types.RowKind;

/** Keeps all rows of each key, and computes the results of all rows each time. */
public final class GroupAggregateModel {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("a", DataType.INT16),
          new Field("b", DataType.BOOL, false),
          Field.of("s", DataType.STRING),
          Field.of("v", DataType.INT32),
          new Field("w", DataType.INT64, false),
          Field.of("d", DataType.decimal(20, 2)),
          Field.of("x", DataType.STRING));

  private static final List<String> STRINGS =
      Arrays.asList(null, "", "12 bytes, 11", "13 bytes, 12.", "13 bytes, 12!", "ä".repeat(40));

  private final boolean isChangelog;
  private final boolean hasStrings;
  private final Map<List<Object>, List<List<Object>>> rows = new HashMap<>();

  /**
   * @param isChangelog whether rows are taken back; there is no minimum and maximum then
   * @param hasStrings whether there are minima and maxima of strings
   */
  public GroupAggregateModel(boolean isChangelog, boolean hasStrings) {
    this.isChangelog = isChangelog;
    this.hasStrings = hasStrings && !isChangelog;
  }

  /** The job whose results these are. */
  public Job job() {
    Schema schema = isChangelog ? RowKindColumn.addTo(SCHEMA) : SCHEMA;
    List<Aggregate> aggregates =
        new ArrayList<>(
            List.of(count(), count("v"), sum("v"), avg("v"), avg("w"), sum("d"), avg("d")));
    if (!isChangelog) {
      aggregates.addAll(List.of(min("v"), max("w")));
    }
    if (hasStrings) {
      aggregates.addAll(List.of(min("x"), max("x")));
    }
    return new Job(schema, List.of("a", "b", "s"), aggregates.toArray(Aggregate[]::new));
  }

  public GroupAggregateModel copy() {
    GroupAggregateModel copy = new GroupAggregateModel(isChangelog, hasStrings);
    rows.forEach((key, values) -> copy.rows.put(key, new ArrayList<>(values)));
    return copy;
  }

  /** A random batch, which is applied to this model. */
  public List<List<Object>> randomBatch(Random random) {
    List<List<Object>> batch = new ArrayList<>();
    for (int i = random.nextInt(40); i > 0; i--) {
      List<Object> key =
          Arrays.asList(
              random.nextInt(8) == 0 ? null : (short) random.nextInt(3),
              random.nextBoolean(),
              STRINGS.get(random.nextInt(STRINGS.size())));
      List<List<Object>> live = rows.computeIfAbsent(key, absent -> new ArrayList<>());
      boolean retracts = isChangelog && !live.isEmpty() && random.nextInt(5) > 1;
      List<Object> values = retracts ? live.remove(random.nextInt(live.size())) : values(random);
      if (!retracts) {
        live.add(values);
      }
      List<Object> row = new ArrayList<>(key);
      row.addAll(values);
      if (isChangelog) {
        row.add(kind(retracts, random).toByteValue());
      }
      batch.add(row);
    }
    return batch;
  }

  private static List<Object> values(Random random) {
    boolean isLarge = random.nextInt(10) == 0;
    return Arrays.asList(
        random.nextInt(4) == 0 ? null : isLarge ? random.nextInt() : random.nextInt(9) - 4,
        isLarge ? random.nextLong() : random.nextInt(9) - 4L,
        random.nextInt(4) == 0 ? null : decimal(random, isLarge),
        random.nextInt(4) == 0 ? null : "x".repeat(random.nextInt(30)) + random.nextInt(1_000));
  }

  private static BigDecimal decimal(Random random, boolean isLarge) {
    BigInteger unscaled =
        isLarge ? new BigInteger(66, random) : BigInteger.valueOf(random.nextInt(9));
    return new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), 2);
  }

  private static RowKind kind(boolean retracts, Random random) {
    return random.nextBoolean()
        ? retracts ? RowKind.DELETE : RowKind.INSERT
        : retracts ? RowKind.UPDATE_BEFORE : RowKind.UPDATE_AFTER;
  }

  /** The result of each key that has rows. */
  public Map<List<Object>, List<Object>> results() {
    Map<List<Object>, List<Object>> results = new HashMap<>();
    rows.forEach(
        (key, values) -> {
          if (!values.isEmpty()) {
            results.put(key, result(values));
          }
        });
    return results;
  }

  private List<Object> result(List<List<Object>> values) {
    List<Integer> v =
        values.stream().map(row -> (Integer) row.get(0)).filter(Objects::nonNull).toList();
    List<Long> w = values.stream().map(row -> (Long) row.get(1)).toList();
    List<BigDecimal> d =
        values.stream().map(row -> (BigDecimal) row.get(2)).filter(Objects::nonNull).toList();
    BigDecimal sumD = d.stream().reduce(BigDecimal.ZERO.setScale(2), BigDecimal::add);
    long sumV = v.stream().mapToLong(Integer::longValue).sum();
    List<Object> result = new ArrayList<>();
    result.add((long) values.size());
    result.add((long) v.size());
    result.add(v.isEmpty() ? null : (int) sumV);
    result.add(v.isEmpty() ? null : (int) (sumV / v.size()));
    result.add(w.stream().mapToLong(Long::longValue).sum() / w.size());
    result.add(d.isEmpty() ? null : sumD);
    result.add(
        d.isEmpty() ? null : sumD.divide(BigDecimal.valueOf(d.size()), 6, RoundingMode.HALF_UP));
    if (!isChangelog) {
      result.add(v.stream().min(Integer::compare).orElse(null));
      result.add(w.stream().max(Long::compare).orElseThrow());
    }
    if (hasStrings) {
      List<String> x =
          values.stream().map(row -> (String) row.get(3)).filter(Objects::nonNull).toList();
      result.add(x.stream().min(String::compareTo).orElse(null));
      result.add(x.stream().max(String::compareTo).orElse(null));
    }
    return result;
  }
}
