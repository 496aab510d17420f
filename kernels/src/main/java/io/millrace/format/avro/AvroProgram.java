// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import java.util.List;

/**
 * How records of a schema are read. Immutable.
 *
 * @param id of the schema; 0 if records name no schema
 * @param steps from the first byte of a record to its end
 * @param symbols of the enums among the steps
 */
record AvroProgram(int id, List<AvroStep> steps, List<String> symbols) {
  AvroProgram {
    steps = List.copyOf(steps);
    symbols = List.copyOf(symbols);
  }
}
