// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.kernel.hash.HashFunction;
import org.apache.flink.annotation.Internal;

/** An operator whose state belongs to keys, and which is behind an exchange by these. */
@Internal
public interface KeyedOperator {
  /**
   * Sets the hash by which the exchange chooses the key group of a key: a restored operator keeps
   * the rows of its own key groups. Called before the operator is set up.
   */
  void setKeyHash(HashFunction keyHash);
}
