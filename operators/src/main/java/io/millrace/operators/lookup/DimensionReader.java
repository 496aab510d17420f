// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.lookup;

import io.millrace.column.Table;
import java.util.function.Consumer;
import org.apache.flink.annotation.PublicEvolving;

/** Reads a {@link DimensionTable} once. Used by one thread, except for {@link #cancel}. */
@PublicEvolving
public interface DimensionReader extends AutoCloseable {

  /**
   * Hands on all rows, each once, as they are at one moment. Called once.
   *
   * @param parts takes ownership of each table, which has the dimension's columns, all of which may
   *     be nullable, in the memory of the device
   * @throws Exception if the rows cannot be read
   */
  void read(Consumer<Table> parts) throws Exception;

  /** Makes {@link #read} fail soon, if it is not done. Any thread may call this at any time. */
  void cancel();

  @Override
  void close();
}
