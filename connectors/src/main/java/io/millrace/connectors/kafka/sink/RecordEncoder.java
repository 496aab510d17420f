// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Turns tables into records of a topic, first on the operator's device and then on the host. Each
 * operator has its own, which it opens and closes once. Used by one thread.
 */
@PublicEvolving
public interface RecordEncoder extends Serializable, AutoCloseable {

  /**
   * Prepares for tables on the stream's device.
   *
   * @param stream of the tables; stays open as long as the encoder
   * @param memory of what is written on the device
   */
  default void open(DeviceStream stream, MemoryResource memory) {}

  /**
   * Makes one attempt on the device. By default a table stays as it is.
   *
   * @param table stays the caller's
   * @return what {@link #records} takes, when it is on the host; the caller's
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory; the table can
   *     be written again
   */
  default Table write(Table table) {
    return table.share();
  }

  /**
   * Makes one attempt on the host: the records of a table's rows, in the order of the rows.
   *
   * @param written in host memory, with at least one row; stays the caller's
   * @param scope on a host stream
   */
  List<KafkaRecord> records(Table written, AccessScope scope);

  /** Frees what the encoder keeps for further tables. */
  @Override
  default void close() {}
}
