// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import java.util.List;
import java.util.Map;

/**
 * How records of a schema are read, or the elements of a list in them. Immutable.
 *
 * @param id of the schema; 0 if records name no schema, and for elements
 * @param steps from the first byte of a record to its end
 * @param symbols of the enums among the steps
 * @param elements the programs for the elements of lists, by the number of the list's field
 */
record AvroProgram(
    int id, List<AvroStep> steps, List<String> symbols, Map<Integer, List<AvroProgram>> elements) {
  AvroProgram {
    steps = List.copyOf(steps);
    symbols = List.copyOf(symbols);
    elements = Map.copyOf(elements);
  }

  /** The programs for the elements of the lists of a field. */
  List<AvroProgram> elements(int field) {
    return elements.getOrDefault(field, List.of());
  }
}
