// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import io.millrace.device.HostMemory;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Strings to arrays and maps, and arrays of strings to strings, on the host. */
final class StringArrays {
  private static final double LOAD_FACTOR = 0.75;

  private StringArrays() {}

  static void split(HostVector[] operands, HostVector result, int row) {
    if (operands[1].length(row) == 0) {
      splitUnits(operands[0].getString(row), result, row);
      return;
    }
    HostVector text = operands[0];
    int[] begins = beginsOfParts(text, operands[1], row);
    int first = result.appendElements(row, begins.length);
    for (int i = 0; i < begins.length; i++) {
      boolean isLast = i == begins.length - 1;
      int end = isLast ? text.length(row) : begins[i + 1] - operands[1].length(row);
      result.elements().setBytes(first + i, text.address(row) + begins[i], end - begins[i]);
    }
  }

  private static void splitUnits(String text, HostVector result, int row) {
    int first = result.appendElements(row, text.length());
    for (int i = 0; i < text.length(); i++) {
      result.elements().setString(first + i, text.substring(i, i + 1));
    }
  }

  private static int[] beginsOfParts(HostVector text, HostVector delimiter, int row) {
    if (text.length(row) == 0) {
      return new int[0];
    }
    List<Integer> begins = new ArrayList<>(List.of(0));
    int length = delimiter.length(row);
    int last = text.length(row) - length;
    for (int i = 0; i <= last; ) {
      if (isAt(text.address(row) + i, delimiter.address(row), length)) {
        i += length;
        begins.add(i);
      } else {
        i++;
      }
    }
    return begins.stream().mapToInt(Integer::intValue).toArray();
  }

  private static boolean isAt(long place, long searched, int length) {
    for (int i = 0; i < length; i++) {
      if (HostMemory.getByte(place + i) != HostMemory.getByte(searched + i)) {
        return false;
      }
    }
    return true;
  }

  static void extractAll(HostVector[] operands, HostVector result, Rows rows) {
    Map<String, Optional<Pattern>> known = new HashMap<>();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      Optional<Pattern> pattern =
          known.computeIfAbsent(operands[1].getString(row), StringArrays::compile);
      long group = operands.length < 3 ? 1 : operands[2].longs()[row];
      Optional<Matcher> matcher = pattern.map(regex -> regex.matcher(operands[0].getString(row)));
      if (group < 0 || matcher.filter(found -> group <= found.groupCount()).isEmpty()) {
        result.setNull(row);
      } else {
        extractAll(matcher.get(), (int) group, result, row);
      }
    }
  }

  private static Optional<Pattern> compile(String regex) {
    try {
      return Optional.of(Pattern.compile(regex));
    } catch (PatternSyntaxException e) {
      return Optional.empty();
    }
  }

  private static void extractAll(Matcher matcher, int group, HostVector result, int row) {
    List<String> found = new ArrayList<>();
    while (matcher.find()) {
      found.add(matcher.group(group));
    }
    int first = result.appendElements(row, found.size());
    for (int i = 0; i < found.size(); i++) {
      setText(result.elements(), first + i, found.get(i));
    }
  }

  private static void setText(HostVector vector, int position, String text) {
    if (text == null) {
      vector.setNull(position);
    } else {
      vector.setString(position, text);
    }
  }

  static void toMap(HostVector[] operands, HostVector result, int row, Rows rows) {
    String pairs = operands.length < 3 ? "," : operands[1].getString(row);
    String values = operands.length < 3 ? "=" : operands[2].getString(row);
    Map<String, String> map;
    try {
      map = toMap(operands[0].getString(row), pairs, values);
    } catch (PatternSyntaxException e) {
      rows.fail(row, Status.INVALID_ARGUMENT);
      return;
    }
    int next = result.appendElements(row, map.size());
    List<HostVector> entry = result.elements().fields();
    for (Map.Entry<String, String> pair : map.entrySet()) {
      entry.get(0).setString(next, pair.getKey());
      setText(entry.get(1), next, pair.getValue());
      next++;
    }
  }

  // The order of the entries is that of Flink's hash map, which has this capacity.
  private static Map<String, String> toMap(String text, String pairs, String values) {
    if (text.isEmpty()) {
      return Map.of();
    }
    String[] parts = text.split(pairs, 0);
    int capacity =
        parts.length <= 2 ? parts.length + 1 : (int) Math.ceil(parts.length / LOAD_FACTOR);
    Map<String, String> map = new HashMap<>(capacity, (float) LOAD_FACTOR);
    for (String part : parts) {
      String[] keyAndValue = part.split(values, 2);
      if (keyAndValue.length < 2) {
        map.put(part, null);
      } else {
        map.put(keyAndValue[0], keyAndValue[1]);
      }
    }
    return map;
  }

  /** Operands: array, delimiter and optionally the string for nulls. */
  static void join(HostVector[] operands, HostVector result, int row) {
    HostVector array = operands[0];
    HostVector delimiter = operands[1];
    List<Integer> joined = new ArrayList<>();
    long bytes = 0;
    for (int i = 0; i < array.length(row); i++) {
      int element = array.firstElement(row) + i;
      boolean isNull = array.elements().isNull(element);
      if (!isNull || operands.length == 3) {
        bytes += joined.isEmpty() ? 0 : delimiter.length(row);
        bytes += isNull ? operands[2].length(row) : array.elements().length(element);
        joined.add(element);
      }
    }
    long address = result.allocate(bytes);
    result.setBytes(row, address, (int) bytes);
    for (int i = 0; i < joined.size(); i++) {
      int element = joined.get(i);
      if (i > 0) {
        address = append(address, delimiter, row);
      }
      boolean isNull = array.elements().isNull(element);
      address = append(address, isNull ? operands[2] : array.elements(), isNull ? row : element);
    }
  }

  private static long append(long address, HostVector bytes, int position) {
    HostMemory.copy(address, bytes.address(position), bytes.length(position));
    return address + bytes.length(position);
  }
}
