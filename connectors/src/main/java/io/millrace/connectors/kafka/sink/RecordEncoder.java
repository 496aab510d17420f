// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/** Turns tables into records of a topic. Used by one thread. */
@PublicEvolving
public interface RecordEncoder extends Serializable {

  /**
   * The records of a table's rows, in the order of the rows.
   *
   * @param table in host memory, with at least one row; stays the caller's
   * @param scope on a host stream
   */
  List<KafkaRecord> encode(Table table, AccessScope scope);
}
