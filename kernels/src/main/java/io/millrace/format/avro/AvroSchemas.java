// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.annotation.PublicEvolving;
import java.util.Optional;

/** The schemas that records name by their ids, such as those of a registry. Used by one thread. */
@PublicEvolving
@FunctionalInterface
public interface AvroSchemas {

  /**
   * Finds a schema. May wait for another process.
   *
   * @return empty if no schema has the id
   * @throws IllegalArgumentException if records of the schema cannot be read; the message says why
   * @throws RuntimeException if it is not known whether there is a schema with the id
   */
  Optional<AvroType> find(int id);
}
