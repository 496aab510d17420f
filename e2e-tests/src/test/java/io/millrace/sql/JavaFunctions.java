// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import io.millrace.expression.resolve.ColumnFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.operators.sql.table.DeviceFunction;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.metrics.Counter;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.functions.AggregateFunction;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.types.Row;

/** Functions as users write them. */
public final class JavaFunctions {
  private JavaFunctions() {}

  /** Primitive parameters and result. */
  public static final class Half extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public long eval(long number) {
      return number / 2;
    }
  }

  /** Asked about nulls, of which it makes values. */
  public static final class Described extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public String eval(Integer number) {
      return number == null ? "nothing" : number > 2 ? null : "number " + number;
    }
  }

  /** Several methods. */
  public static final class Several extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public String eval(Integer number) {
      return "INT " + number;
    }

    public String eval(Long number) {
      return "BIGINT " + number;
    }

    public String eval(String text) {
      return "STRING " + text;
    }

    public String eval(Integer number, String text) {
      return number + " and " + text;
    }
  }

  /** Any number of arguments. */
  public static final class Joined extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public String eval(String separator, String... texts) {
      return String.join(separator, Arrays.stream(texts).map(String::valueOf).toList());
    }
  }

  /** Classes that are not those of Flink's rows. */
  public static final class Types extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public @DataTypeHint("DECIMAL(12, 3)") BigDecimal eval(
        @DataTypeHint("DECIMAL(10, 2)") BigDecimal number) {
      return number == null ? null : number.negate().add(new BigDecimal("0.125"));
    }

    public LocalDate eval(LocalDate date) {
      return date == null ? null : date.plusDays(1);
    }

    public @DataTypeHint("TIME(0)") LocalTime eval(@DataTypeHint("TIME(0)") LocalTime time) {
      return time == null ? null : time.plusMinutes(1);
    }

    public @DataTypeHint("TIMESTAMP(6)") LocalDateTime eval(
        @DataTypeHint("TIMESTAMP(3)") LocalDateTime time) {
      return time == null ? null : time.plusNanos(1_000);
    }

    public @DataTypeHint("TIMESTAMP_LTZ(9)") Instant eval(
        @DataTypeHint("TIMESTAMP_LTZ(3)") Instant time) {
      return time == null ? null : time.plusNanos(1);
    }

    public Boolean eval(Boolean value) {
      return value == null ? null : !value;
    }

    public Double eval(Double value) {
      return value == null ? null : value / 3;
    }

    public Float eval(Float value) {
      return value == null ? null : value / 3;
    }

    public Byte eval(Byte value) {
      return value;
    }

    public byte[] eval(byte[] value) {
      return value == null ? null : Arrays.copyOf(value, value.length + 1);
    }

    public Long eval(@DataTypeHint("INTERVAL DAY TO SECOND(3)") Duration value) {
      return value == null ? null : value.toMillis();
    }
  }

  /** The objects of Flink's rows. */
  public static final class Internal extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public @DataTypeHint("STRING") StringData eval(@DataTypeHint("STRING") StringData text) {
      return text == null ? null : StringData.fromString(text + "!");
    }

    public @DataTypeHint("TIMESTAMP(3)") TimestampData eval(
        @DataTypeHint("TIMESTAMP(3)") TimestampData time) {
      return time == null ? null : TimestampData.fromEpochMillis(time.getMillisecond() + 1);
    }
  }

  /** Nested values. */
  public static final class Nested extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public Integer[] eval(String[] words) {
      return words == null
          ? null
          : Arrays.stream(words)
              .map(word -> word == null ? null : word.length())
              .toArray(Integer[]::new);
    }

    public @DataTypeHint("MAP<STRING, INT>") Map<String, Integer> eval(
        @DataTypeHint("MAP<STRING, INT>") Map<String, Integer> numbers) {
      if (numbers == null) {
        return null;
      }
      Map<String, Integer> more = new TreeMap<>(numbers);
      more.put("size", numbers.size());
      return more;
    }

    public @DataTypeHint("ROW<s STRING, i INT>") Row eval(
        @DataTypeHint("ROW<i INT, r ROW<s STRING>>") Row row) {
      Row inner = row == null ? null : (Row) row.getField(1);
      return inner == null ? null : Row.of(inner.getField(0), row.getField(0));
    }
  }

  /** Its name is also that of one of Flink's functions. */
  public static final class Upper extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public String eval(String text) {
      return "not " + text;
    }
  }

  /** Throws an exception that Java makes callers declare. */
  public static final class Throwing extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public Integer eval(Integer number) throws Exception {
      if (number != null && number == 2) {
        throw new Exception("two");
      }
      return number;
    }
  }

  /** Not deterministic. */
  public static final class Dice extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public Integer eval(Integer sides) {
      return sides;
    }

    @Override
    public boolean isDeterministic() {
      return false;
    }
  }

  /** Is called between open and close only, which are counted. */
  public static class Opened extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    /** How often instances were opened and closed. */
    static final AtomicInteger OPENED = new AtomicInteger();

    static final AtomicInteger CLOSED = new AtomicInteger();

    private transient String greeting;
    private transient Counter calls;

    @Override
    public void open(FunctionContext context) {
      greeting = context.getJobParameter("greeting", "none");
      calls = context.getMetricGroup().counter("calls");
      OPENED.incrementAndGet();
    }

    public String eval(Integer number) {
      calls.inc();
      if (number != null && number == 99) {
        throw new IllegalArgumentException("99");
      }
      return greeting + number;
    }

    @Override
    public void close() {
      CLOSED.incrementAndGet();
    }
  }

  /** Over columns. */
  public static final class OpenedColumns extends Opened implements ColumnFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public String eval(Integer number) {
      return number == null ? null : super.eval(number);
    }

    @Override
    public void evaluate(HostVector[] operands, HostVector results, Rows rows) {
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        results.setString(row, eval((int) operands[0].longs()[row]));
      }
    }
  }

  /** Over columns: both of its methods give the same. */
  public static final class Added extends ScalarFunction implements ColumnFunction {
    private static final long serialVersionUID = 1L;

    public Long eval(Integer a, Long b) {
      return a == null || b == null ? null : Long.valueOf(a + b);
    }

    @Override
    public void evaluate(HostVector[] operands, HostVector result, Rows rows) {
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        result.longs()[row] = operands[0].longs()[row] + operands[1].longs()[row];
      }
    }
  }

  /** Has a device function in name only. */
  public static class Misnamed extends ScalarFunction implements DeviceFunction {
    private static final long serialVersionUID = 1L;

    public Integer eval(Integer number) {
      return number;
    }

    @Override
    public String deviceFunction() {
      return "misnamed";
    }

    @Override
    public String ptx() {
      return DeviceFunction.resource(Misnamed.class, "count_char.ptx");
    }
  }

  /** Gives null for some values and fails for others, also in CUDA. */
  public static final class UnitPrice extends ScalarFunction implements DeviceFunction {
    private static final long serialVersionUID = 1L;

    public Double eval(Double price, Integer units) {
      if (price == null || units == null || units < 0) {
        return null;
      }
      if (units == 0) {
        throw new ArithmeticException("a price of no units");
      }
      return price / units;
    }

    @Override
    public String deviceFunction() {
      return "unit_price";
    }

    @Override
    public String ptx() {
      return DeviceFunction.resource(UnitPrice.class, "unit_price.ptx");
    }

    @Override
    public boolean nullForNull() {
      return true;
    }

    @Override
    public boolean returnsOutcome() {
      return true;
    }
  }

  /** Has no PTX. */
  public static final class Misplaced extends Misnamed {
    private static final long serialVersionUID = 1L;

    @Override
    public String ptx() {
      return DeviceFunction.resource(Misplaced.class, "misplaced.ptx");
    }
  }

  /** Gives strings. */
  public static final class Texts extends Misnamed {
    private static final long serialVersionUID = 1L;

    public String eval(String text) {
      return text;
    }
  }

  /** An aggregate. */
  public static final class Longest extends AggregateFunction<String, Longest.Accumulator> {
    private static final long serialVersionUID = 1L;

    /** The longest text. */
    public static final class Accumulator {
      public String text;
    }

    @Override
    public Accumulator createAccumulator() {
      return new Accumulator();
    }

    public void accumulate(Accumulator accumulator, String text) {
      if (text != null && (accumulator.text == null || text.length() > accumulator.text.length())) {
        accumulator.text = text;
      }
    }

    @Override
    public String getValue(Accumulator accumulator) {
      return accumulator.text;
    }
  }
}
