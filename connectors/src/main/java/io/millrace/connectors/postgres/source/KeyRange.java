// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.source;

import java.util.Objects;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * A range of keys to read, in their order. Keys are as text, as PostgreSQL casts them.
 *
 * @param index the number of the range
 * @param lower the lowest key; empty if the range has no lower end
 * @param upper the first key behind the range; empty if it has no upper end
 * @param position the last key that was read; empty if none was
 * @param snapshot the snapshot to read; empty if a reader takes one of its own
 */
record KeyRange(int index, Bound lower, Bound upper, Bound position, String snapshot)
    implements SourceSplit {
  static final String OWN_SNAPSHOT = "";

  /**
   * A key, or none.
   *
   * @param key null if there is none
   */
  record Bound(String key) {
    static final Bound NONE = new Bound(null);

    boolean isNone() {
      return key == null;
    }
  }

  KeyRange {
    Objects.requireNonNull(snapshot, "snapshot is null");
  }

  KeyRange withPosition(String key) {
    return new KeyRange(index, lower, upper, new Bound(key), snapshot);
  }

  /**
   * The range with another snapshot. A checkpoint keeps none: a snapshot ends with the enumerator's
   * connection.
   */
  KeyRange withSnapshot(String other) {
    return new KeyRange(index, lower, upper, position, other);
  }

  @Override
  public String splitId() {
    return String.valueOf(index);
  }
}
