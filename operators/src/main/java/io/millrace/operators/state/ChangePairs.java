// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.column.Table;
import io.millrace.memory.retry.Splittable;
import io.millrace.state.StateTable;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * The changes of an update, two rows for each key, those of before it and of after it, which stay
 * together in parts.
 *
 * @param changes as {@link StateTable#update(Table)} gives them
 */
@Internal
public record ChangePairs(Table changes) implements Splittable<ChangePairs> {
  @Override
  public List<ChangePairs> halves() {
    int pairs = changes.rowCount() / 2;
    if (pairs < 2) {
      return List.of();
    }
    int half = 2 * (pairs / 2);
    return List.of(
        new ChangePairs(changes.slice(0, half)),
        new ChangePairs(changes.slice(half, changes.rowCount() - half)));
  }

  @Override
  public void close() {
    changes.close();
  }
}
