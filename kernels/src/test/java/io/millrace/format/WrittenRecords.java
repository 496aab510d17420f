// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Records that a writer made, on any device. */
public final class WrittenRecords {
  private WrittenRecords() {}

  /** The bytes of the record of each row. A writer writes the table twice, with the same result. */
  public static List<byte[]> of(RecordWriter writer, Table table, DeviceExtension device) {
    try (RecordBytes first = write(writer, table, device);
        RecordBytes second = writer.write(table)) {
      List<byte[]> records = of(first, device);
      List<byte[]> again = of(second, device);
      assertThat(again).hasSameSizeAs(records);
      for (int i = 0; i < records.size(); i++) {
        assertThat(again.get(i)).isEqualTo(records.get(i));
      }
      return records;
    }
  }

  private static RecordBytes write(RecordWriter writer, Table table, DeviceExtension device) {
    return table.rowCount() == 0
        ? writer.write(table)
        : device.assertLaunches(2, () -> writer.write(table));
  }

  private static List<byte[]> of(RecordBytes records, DeviceExtension device) {
    try (Buffer bytes = toHost(records.bytes(), device);
        Buffer positions = toHost(records.positions(), device);
        AccessScope scope = AccessScope.on(device.hostStream())) {
      byte[] all = new byte[(int) bytes.size()];
      if (all.length > 0) {
        HostMemory.copyToArray(all, 0, bytes.access(AccessMode.READ, scope), all.length);
      }
      long starts = positions.access(AccessMode.READ, scope);
      List<byte[]> list = new ArrayList<>();
      for (int i = 0; i < records.count(); i++) {
        long place = starts + (long) i * Integer.BYTES;
        int end = HostMemory.getInt(place + Integer.BYTES);
        list.add(Arrays.copyOfRange(all, HostMemory.getInt(place), end));
      }
      assertThat(HostMemory.getInt(starts + (long) records.count() * Integer.BYTES))
          .isEqualTo(all.length);
      return list;
    }
  }

  private static Buffer toHost(Buffer buffer, DeviceExtension device) {
    return buffer.copyTo(device.hostMemory(), device.hostStream(), device.stream());
  }
}
