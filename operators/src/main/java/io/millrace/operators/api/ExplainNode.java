// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * An operator of a stream, or a change of its distribution, as {@link ColumnStream#explain} prints
 * it.
 *
 * @param name the operation
 * @param place the place at which it runs
 * @param hostReasons the reasons to run on the host, or the steps that do in a device operator
 * @param inputs the operators whose rows it gets
 * @param state what its state holds, if it has one
 */
record ExplainNode(
    String name,
    Place place,
    List<String> hostReasons,
    List<ExplainNode> inputs,
    Optional<String> state) {

  /** The place at which an operator runs. */
  enum Place {
    DEVICE(" [GPU if there is one]", "   on the host: "),
    HOST(" [host]", "   because of "),
    NONE("", "");

    private final String tag;
    private final String reason;

    Place(String tag, String reason) {
      this.tag = tag;
      this.reason = reason;
    }
  }

  ExplainNode {
    hostReasons = List.copyOf(hostReasons);
    inputs = List.copyOf(inputs);
  }

  /** A node without state. */
  ExplainNode(String name, Place place, List<String> hostReasons, List<ExplainNode> inputs) {
    this(name, place, hostReasons, inputs, Optional.empty());
  }

  /** This operator with what its state holds. */
  ExplainNode withState(String text) {
    return new ExplainNode(name, place, hostReasons, inputs, Optional.of(text));
  }

  /** A source of rows, on the host. */
  static ExplainNode batching(String name) {
    return new ExplainNode(name, Place.HOST, List.of(), List.of());
  }

  /**
   * The text of this operator and of all operators before it, each once, in the order of the rows.
   */
  String explain() {
    StringBuilder text = new StringBuilder();
    print(new IdentityHashMap<>(), text);
    return text.toString();
  }

  private void print(Map<ExplainNode, Integer> numbers, StringBuilder text) {
    if (numbers.containsKey(this)) {
      return;
    }
    inputs.forEach(input -> input.print(numbers, text));
    int number = numbers.size() + 1;
    numbers.put(this, number);
    text.append(number).append(". ").append(name);
    List<Integer> sources = inputs.stream().map(numbers::get).toList();
    if (!sources.isEmpty() && !sources.equals(List.of(number - 1))) {
      text.append(
          sources.stream().map(String::valueOf).collect(Collectors.joining(" and ", " from ", "")));
    }
    text.append(place.tag).append('\n');
    hostReasons.forEach(reason -> text.append(place.reason).append(reason).append('\n'));
    state.ifPresent(what -> text.append("   state: ").append(what).append('\n'));
  }
}
