// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.pattern;

import io.millrace.column.DataType;
import io.millrace.device.HostMemory;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.regexp.Dfa;
import io.millrace.text.PatternBytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * The regular-expression functions of a string, a pattern and an optional third argument. Each is
 * implemented with {@link java.util.regex}, which defines the meaning, and with an automaton.
 */
enum RegexpFunction {
  REGEXP("regexp") {
    @Override
    void evaluate(Optional<Matcher> matcher, HostVector[] operands, HostVector result, int row) {
      result.setBoolean(row, matcher.filter(Matcher::find).isPresent());
    }

    @Override
    void evaluate(Dfa automaton, String third, HostVector text, HostVector result, int row) {
      result.setBoolean(row, automaton.contains(text.address(row), text.length(row)));
    }
  },
  REGEXP_EXTRACT("regexp_extract") {
    @Override
    void evaluate(Optional<Matcher> matcher, HostVector[] operands, HostVector result, int row) {
      int group = operands.length < 3 ? 0 : (int) operands[2].longs()[row];
      String found =
          matcher
              .filter(m -> group >= 0 && group <= m.groupCount() && m.find())
              .map(m -> m.group(group))
              .orElse(null);
      if (found == null) {
        result.setNull(row);
      } else {
        result.setString(row, found);
      }
    }

    @Override
    void evaluate(Dfa automaton, String third, HostVector text, HostVector result, int row) {
      extract(automaton, text, result, row);
    }
  },
  REGEXP_SUBSTR("regexp_extract") {
    @Override
    void evaluate(Optional<Matcher> matcher, HostVector[] operands, HostVector result, int row) {
      REGEXP_EXTRACT.evaluate(matcher, operands, result, row);
    }

    @Override
    void evaluate(Dfa automaton, String third, HostVector text, HostVector result, int row) {
      extract(automaton, text, result, row);
    }
  },
  REGEXP_INSTR("regexp_instr") {
    @Override
    void evaluate(Optional<Matcher> matcher, HostVector[] operands, HostVector result, int row) {
      if (matcher.isEmpty()) {
        result.setNull(row);
      } else {
        result.longs()[row] = matcher.get().find() ? matcher.get().start() + 1 : 0;
      }
    }

    @Override
    void evaluate(Dfa automaton, String third, HostVector text, HostVector result, int row) {
      long address = text.address(row);
      int start = automaton.matchStart(address, text.length(row), 0);
      result.longs()[row] = start < 0 ? 0 : 1 + PatternBytes.utf16Length(address, start);
    }
  },
  REGEXP_COUNT("regexp_count") {
    @Override
    void evaluate(Optional<Matcher> matcher, HostVector[] operands, HostVector result, int row) {
      if (matcher.isEmpty()) {
        result.setNull(row);
      } else {
        result.longs()[row] = matcher.get().results().count();
      }
    }

    @Override
    void evaluate(Dfa automaton, String third, HostVector text, HostVector result, int row) {
      long address = text.address(row);
      int length = text.length(row);
      int count = 0;
      int start = automaton.matchStart(address, length, 0);
      while (start >= 0) {
        count++;
        start = automaton.matchStart(address, length, automaton.matchEnd(address, length, start));
      }
      result.longs()[row] = count;
    }
  },
  REGEXP_REPLACE("regexp_replace") {
    @Override
    void evaluate(Optional<Matcher> matcher, HostVector[] operands, HostVector result, int row) {
      if (matcher.isEmpty()) {
        result.setNull(row);
      } else {
        String replacement = Matcher.quoteReplacement(operands[2].getString(row));
        result.setString(row, matcher.get().replaceAll(replacement));
      }
    }

    @Override
    void evaluate(Dfa automaton, String third, HostVector text, HostVector result, int row) {
      replace(automaton, third.getBytes(StandardCharsets.UTF_8), text, result, row);
    }
  };

  private final String deviceFunction;

  RegexpFunction(String deviceFunction) {
    this.deviceFunction = deviceFunction;
  }

  String deviceFunction() {
    return deviceFunction;
  }

  DataType type() {
    return switch (this) {
      case REGEXP -> DataType.BOOL;
      case REGEXP_INSTR, REGEXP_COUNT -> DataType.INT32;
      case REGEXP_EXTRACT, REGEXP_SUBSTR, REGEXP_REPLACE -> DataType.STRING;
    };
  }

  /** Whether Flink declares the result nullable even if the arguments are not. */
  boolean hasNullableType() {
    return this != REGEXP && this != REGEXP_REPLACE;
  }

  Dfa.Search search() {
    return this == REGEXP ? Dfa.Search.CONTAINS : Dfa.Search.LOCATE;
  }

  /** Whether the function continues after a match. Empty matches then depend on Java's rules. */
  boolean takesAllMatches() {
    return this == REGEXP_COUNT || this == REGEXP_REPLACE;
  }

  /**
   * Computes one row.
   *
   * @param matcher matcher of the pattern on the string; empty if the pattern is malformed
   */
  abstract void evaluate(
      Optional<Matcher> matcher, HostVector[] operands, HostVector result, int row);

  abstract void evaluate(Dfa automaton, String third, HostVector text, HostVector result, int row);

  /** Java implementation with operands string, pattern and the function's other arguments. */
  HostFunction byJava() {
    return (operands, result, rows) -> evaluateByJava(operands, result, rows, new HashMap<>());
  }

  /** Java implementation with the pattern compiled in advance. */
  HostFunction byJava(String pattern) {
    Map<String, Optional<Pattern>> compiled = Map.of(pattern, compile(pattern));
    return HostFunction.ofRow(
        (operands, result, row) ->
            evaluate(
                compiled.get(pattern).map(p -> p.matcher(operands[0].getString(row))),
                operands,
                result,
                row));
  }

  /** Automaton implementation with the string as its only operand. */
  HostFunction byAutomaton(Dfa automaton, String third) {
    return HostFunction.ofRow(
        (operands, result, row) -> evaluate(automaton, third, operands[0], result, row));
  }

  /** The constant of the device function. */
  byte[] constant(Dfa automaton, String third) {
    byte[] table = automaton.table();
    if (this != REGEXP_REPLACE) {
      return table;
    }
    byte[] replacement = third.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(Integer.BYTES + replacement.length + table.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(replacement.length)
        .put(replacement)
        .put(table)
        .array();
  }

  private void evaluateByJava(
      HostVector[] operands, HostVector result, Rows rows, Map<String, Optional<Pattern>> known) {
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      Optional<Pattern> pattern = known.computeIfAbsent(operands[1].getString(row), this::compile);
      evaluate(pattern.map(p -> p.matcher(operands[0].getString(row))), operands, result, row);
    }
  }

  // REGEXP treats the empty pattern as malformed.
  private Optional<Pattern> compile(String pattern) {
    try {
      return this == REGEXP && pattern.isEmpty()
          ? Optional.empty()
          : Optional.of(Pattern.compile(pattern));
    } catch (PatternSyntaxException e) {
      return Optional.empty();
    }
  }

  private static void extract(Dfa automaton, HostVector text, HostVector result, int row) {
    long address = text.address(row);
    int length = text.length(row);
    int start = automaton.matchStart(address, length, 0);
    if (start < 0) {
      result.setNull(row);
    } else {
      result.setBytes(row, address + start, automaton.matchEnd(address, length, start) - start);
    }
  }

  private static void replace(
      Dfa automaton, byte[] replacement, HostVector text, HostVector result, int row) {
    long address = text.address(row);
    int length = text.length(row);
    long target = result.allocate((long) length * Math.max(1, replacement.length));
    int written = 0;
    int copied = 0;
    int start = automaton.matchStart(address, length, 0);
    while (start >= 0) {
      HostMemory.copy(target + written, address + copied, start - copied);
      written += start - copied;
      HostMemory.copyFromArray(target + written, replacement, 0, replacement.length);
      written += replacement.length;
      copied = automaton.matchEnd(address, length, start);
      start = automaton.matchStart(address, length, copied);
    }
    HostMemory.copy(target + written, address + copied, length - copied);
    result.setBytes(row, target, written + length - copied);
  }
}
