// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import java.util.List;

/**
 * The rows of a state table at one moment, shared with the table until the table writes to them.
 * May be read and closed by another thread than the table's.
 */
@PublicEvolving
public final class StateSnapshot implements AutoCloseable {
  private final StateSchema schema;
  private final long rowCount;
  private final List<Buffer> chunks;

  /** Takes ownership of the chunks. */
  StateSnapshot(StateSchema schema, long rowCount, List<Buffer> chunks) {
    this.schema = schema;
    this.rowCount = rowCount;
    this.chunks = chunks;
  }

  public StateSchema schema() {
    return schema;
  }

  public long rowCount() {
    return rowCount;
  }

  /** The rows one behind the other, in pieces; still owned by this snapshot. */
  List<Buffer> chunks() {
    return chunks;
  }

  /** Gives the rows up. Closing twice does nothing. */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    chunks.forEach(chunk -> failure.run(chunk::close));
    failure.rethrow();
  }
}
