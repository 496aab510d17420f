// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.Schema;
import io.millrace.device.DeviceStream;
import io.millrace.format.RecordWriter;
import io.millrace.memory.MemoryResource;
import org.apache.flink.annotation.PublicEvolving;

/** A format whose files are records, one for each row, which are written on the device. */
@PublicEvolving
public interface RecordEncoder extends FileEncoder {

  /**
   * Checks columns before there is a device to write them on.
   *
   * @throws IllegalArgumentException if rows of {@code schema} cannot be written
   */
  void checkSupported(Schema schema);

  /**
   * A writer of records.
   *
   * @param stream of the tables and records; stays open as long as the writer
   * @param memory of the records
   * @throws IllegalArgumentException if rows of {@code schema} cannot be written
   */
  RecordWriter createWriter(Schema schema, DeviceStream stream, MemoryResource memory);
}
