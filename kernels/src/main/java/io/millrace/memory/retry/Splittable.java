// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.retry;

import io.millrace.annotation.PublicEvolving;
import java.util.List;

/**
 * Input of device work that can also be done in parts, such as the rows of a table.
 *
 * @param <T> the type of a part
 */
@PublicEvolving
public interface Splittable<T extends Splittable<T>> extends AutoCloseable {

  /**
   * Two parts that together are this input, in order; or none if it cannot be split. The caller
   * closes them, and the caller still owns this input.
   */
  List<T> halves();

  @Override
  void close();
}
