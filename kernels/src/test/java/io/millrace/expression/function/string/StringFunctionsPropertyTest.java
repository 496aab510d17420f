// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.expression.function.FunctionCalls;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * String functions on random strings, compared with the same operations on lists of code points.
 */
class StringFunctionsPropertyTest {
  private static final int ROWS = 3_000;
  private static final String[] CHARACTERS = {
    "a", "b", "A", "z", "0", "9", " ", ",", "%", "\t", "é", "ß", "€", "漢", "😀", "İ"
  };
  private static final int ASCII_CHARACTERS = 10;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seeded = new RandomExtension();
  private final FunctionCalls calls = new FunctionCalls(device);
  private Random random;

  /** The arguments of one call. */
  private record Arguments(List<Object> values) {
    List<String> text(int index) {
      return codePoints((String) values.get(index));
    }

    int number(int index) {
      return (int) values.get(index);
    }
  }

  @BeforeEach
  void seed() {
    random = seeded.random();
  }

  @Test
  void charLength() {
    check("CHAR_LENGTH", call -> call.text(0).size(), this::text);
  }

  @Test
  void substring() {
    check(
        "SUBSTRING",
        call -> {
          if (call.number(2) < 0) {
            return null;
          }
          List<String> text = call.text(0);
          int start = call.number(1);
          int from = start > 0 ? start - 1 : start < 0 ? text.size() + start : 0;
          return from < 0 ? "" : text.stream().skip(from).limit(call.number(2)).collect(joined());
        },
        this::text,
        this::number,
        this::number);
  }

  @Test
  void ends() {
    check(
        "LEFT",
        call -> call.text(0).stream().limit(Math.max(call.number(1), 0)).collect(joined()),
        this::text,
        this::number);
    check(
        "RIGHT",
        call -> {
          List<String> text = call.text(0);
          int count = Math.min(Math.max(call.number(1), 0), text.size());
          return text.stream().skip(text.size() - count).collect(joined());
        },
        this::text,
        this::number);
  }

  @Test
  void trims() {
    check("TRIM", call -> trim(call, true, true), this::text, this::word);
    check("TRIM LEADING", call -> trim(call, true, false), this::text, this::word);
    check("TRIM TRAILING", call -> trim(call, false, true), this::text, this::word);
  }

  private static String trim(Arguments call, boolean leading, boolean trailing) {
    List<String> text = new ArrayList<>(call.text(0));
    List<String> set = call.text(1);
    while (leading && !text.isEmpty() && set.contains(text.get(0))) {
      text.remove(0);
    }
    while (trailing && !text.isEmpty() && set.contains(text.get(text.size() - 1))) {
      text.remove(text.size() - 1);
    }
    return String.join("", text);
  }

  @Test
  void positions() {
    check(
        "LOCATE",
        call ->
            call.text(0).isEmpty()
                ? 1
                : occurrences(call.text(1), call.text(0))
                    .filter(position -> call.number(2) != Integer.MIN_VALUE)
                    .filter(position -> position >= call.number(2))
                    .findFirst()
                    .orElse(0),
        this::word,
        this::text,
        this::number);
  }

  @Test
  void occurrences() {
    check(
        "INSTR",
        call -> {
          List<String> text = call.text(0);
          List<String> sought = call.text(1);
          int start = call.number(2);
          List<Integer> found =
              start > 0
                  ? occurrences(text, sought).filter(at -> at >= start).toList()
                  : occurrences(text, sought)
                      .filter(at -> (long) at + sought.size() - 1 <= text.size() + start + 1L)
                      .sorted((left, right) -> Integer.compare(right, left))
                      .toList();
          int nth = call.number(3);
          return start == 0 || found.size() < nth ? 0 : found.get(nth - 1);
        },
        this::text,
        () -> pick(CHARACTERS.length),
        this::number,
        () -> 1 + random.nextInt(3));
  }

  private static Stream<Integer> occurrences(List<String> text, List<String> sought) {
    return IntStream.rangeClosed(0, text.size() - sought.size())
        .filter(at -> text.subList(at, at + sought.size()).equals(sought))
        .mapToObj(at -> at + 1);
  }

  @Test
  void edits() {
    check("UPPER", call -> string(call, 0).toUpperCase(Locale.ROOT), this::text);
    check("LOWER", call -> string(call, 0).toLowerCase(Locale.ROOT), this::text);
    check("REVERSE", call -> new StringBuilder(string(call, 0)).reverse().toString(), this::text);
    check("||", call -> string(call, 0) + string(call, 1), this::text, this::text);
    check("CONCAT", call -> string(call, 0) + string(call, 1), this::text, this::text);
    check(
        "TRANSLATE",
        call -> {
          List<String> from = call.text(1);
          List<String> to = call.text(2);
          return call.text(0).stream()
              .map(
                  point ->
                      !from.contains(point)
                          ? point
                          : from.indexOf(point) < to.size() ? to.get(from.indexOf(point)) : "")
              .collect(joined());
        },
        this::text,
        this::word,
        this::word);
  }

  @Test
  void splitIndex() {
    check(
        "SPLIT_INDEX",
        call -> {
          String text = string(call, 0);
          String[] parts = text.split(Pattern.quote(string(call, 1)), -1);
          int index = call.number(2);
          return text.isEmpty() || index < 0 || index >= parts.length ? null : parts[index];
        },
        this::text,
        () -> pick(CHARACTERS.length),
        this::number);
  }

  private static String string(Arguments call, int index) {
    return (String) call.values().get(index);
  }

  private void check(
      String function, Function<Arguments, Object> expected, Supplier<?>... generators) {
    List<List<Object>> rows =
        Stream.generate(() -> Arrays.stream(generators).<Object>map(Supplier::get).toList())
            .limit(ROWS)
            .toList();
    List<Object> results = calls.ofRows(function, rows);
    for (int i = 0; i < ROWS; i++) {
      assertThat(results.get(i))
          .as("%s%s", function, rows.get(i))
          .isEqualTo(expected.apply(new Arguments(rows.get(i))));
    }
  }

  private static List<String> codePoints(String text) {
    return text.codePoints().mapToObj(Character::toString).toList();
  }

  private static Collector<CharSequence, ?, String> joined() {
    return Collectors.joining();
  }

  private String text() {
    return random(random.nextInt(24));
  }

  private String word() {
    return random(random.nextInt(4));
  }

  // Half of the strings are ASCII.
  private String random(int length) {
    int characters = random.nextBoolean() ? ASCII_CHARACTERS : CHARACTERS.length;
    return Stream.generate(() -> pick(characters)).limit(length).collect(joined());
  }

  private String pick(int characters) {
    return CHARACTERS[random.nextInt(characters)];
  }

  private Integer number() {
    return switch (random.nextInt(20)) {
      case 0 -> Integer.MAX_VALUE;
      case 1 -> Integer.MIN_VALUE;
      default -> random.nextInt(30) - 15;
    };
  }
}
