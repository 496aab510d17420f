// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import io.millrace.expression.error.ExpressionException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The way from the root of a JSON text to one value: {@code $.name['other name'][0][-1]}, behind an
 * optional {@code lax} or {@code strict}. An index below zero counts from the end of its array.
 *
 * @param isLax whether it is no error that there is no value; a path without a mode is strict
 */
record JsonPath(boolean isLax, List<Step> steps) {
  /** More steps than this are left to the host. */
  static final int MAX_DEVICE_STEPS = 16;

  private static final Pattern WITH_MODE =
      Pattern.compile("\\s*(strict|lax)\\s+(.+)", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final Pattern STEP =
      Pattern.compile(
          "\\.([\\p{L}\\p{N}_$@:-]+)"
              + "|\\[ *(?:'([^'\"\\\\]+)'|\"([^'\"\\\\]+)\"|(-?\\d{1,9})) *\\]");
  private static final int INDEX = -1;

  /**
   * A step from an object to a member of it, or from an array to an element.
   *
   * @param member null for an element
   */
  record Step(String member, int index) {
    /** Where the step leads; empty if the value has no such member or element. */
    private Optional<Found> from(Object value) {
      if (member != null) {
        return value instanceof Map<?, ?> members && members.containsKey(member)
            ? Optional.of(new Found(members.get(member)))
            : Optional.empty();
      }
      if (!(value instanceof List<?> elements)) {
        return Optional.empty();
      }
      int position = index < 0 ? elements.size() + index : index;
      return position >= 0 && position < elements.size()
          ? Optional.of(new Found(elements.get(position)))
          : Optional.empty();
    }
  }

  /**
   * A value of a JSON text.
   *
   * @param value null for JSON's null
   */
  private record Found(Object value) {}

  /** What a path leads to in a text. */
  enum Outcome {
    /** A value other than null. */
    VALUE,
    /** Nothing, null or a text that is not JSON, in lax mode. */
    EMPTY,
    /** The same in strict mode, or a text that is just null in either mode. */
    ERROR
  }

  /**
   * The result of a path.
   *
   * @param value null unless the outcome is a value
   */
  record Result(Outcome outcome, Object value) {}

  /**
   * Reads a path.
   *
   * @throws ExpressionException if the path is invalid or has wildcards, filters, functions, slices
   *     or several names in one step
   */
  static JsonPath parse(String text) {
    Matcher withMode = WITH_MODE.matcher(text);
    boolean hasMode = withMode.matches();
    String path = hasMode ? withMode.group(2) : text;
    List<Step> steps = new ArrayList<>();
    Matcher step = STEP.matcher(path).region(Math.min(1, path.length()), path.length());
    int end = 1;
    while (step.lookingAt()) {
      steps.add(step(step));
      end = step.end();
      step.region(end, path.length());
    }
    if (!path.startsWith("$") || end != path.length()) {
      throw new ExpressionException(
          "expected a path of members and indices, such as 'lax $.name[0]', got '" + text + "'");
    }
    return new JsonPath(hasMode && isLax(withMode.group(1)), List.copyOf(steps));
  }

  private static boolean isLax(String mode) {
    return mode.toLowerCase(Locale.ROOT).equals("lax");
  }

  private static Step step(Matcher matched) {
    if (matched.group(4) != null) {
      return new Step(null, Integer.parseInt(matched.group(4)));
    }
    for (int group = 1; group <= 3; group++) {
      if (matched.group(group) != null) {
        return new Step(matched.group(group), 0);
      }
    }
    throw new IllegalStateException("expected a member or an index");
  }

  /** Why there is no value, as Jayway's JsonPath tells it of a member or an element. */
  String noResults() {
    StringBuilder text = new StringBuilder("No results for path: $");
    for (Step step : steps) {
      text.append(step.member() == null ? "[" + step.index() + "]" : "['" + step.member() + "']");
    }
    return text.toString();
  }

  /** Follows the path through a text. */
  Result evaluate(String text) {
    Optional<JsonTree> tree = JsonTree.parse(text);
    if (tree.isPresent() && tree.get().root() == null) {
      return new Result(Outcome.ERROR, null);
    }
    Optional<Found> found = tree.map(JsonTree::root).map(Found::new);
    for (Step step : steps) {
      found = found.flatMap(at -> step.from(at.value()));
    }
    Object value = found.map(Found::value).orElse(null);
    return value == null
        ? new Result(isLax ? Outcome.EMPTY : Outcome.ERROR, null)
        : new Result(Outcome.VALUE, value);
  }

  /**
   * The constant of a device function (json_path.cuh): four bytes, which are the mode, what the
   * function does if there is nothing and if there is an error, and the number of steps; then each
   * step as the number of bytes of the member's name and the name, or as -1 and the index.
   */
  byte[] constant(int onEmpty, int onError) {
    ByteArrayOutputStream constant = new ByteArrayOutputStream();
    constant.write(isLax ? 1 : 0);
    constant.write(onEmpty);
    constant.write(onError);
    constant.write(steps.size());
    for (Step step : steps) {
      if (step.member() == null) {
        constant.writeBytes(bytes(INDEX));
        constant.writeBytes(bytes(step.index()));
      } else {
        byte[] name = step.member().getBytes(StandardCharsets.UTF_8);
        constant.writeBytes(bytes(name.length));
        constant.writeBytes(name);
      }
    }
    return constant.toByteArray();
  }

  private static byte[] bytes(int number) {
    return ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(number).array();
  }
}
