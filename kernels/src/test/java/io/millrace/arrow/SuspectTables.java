// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Table;
import io.millrace.testing.DeviceExtension;
import java.time.DateTimeException;

/** Tables that were read from corrupt bytes. */
public final class SuspectTables {
  private static final int MAX_ROWS = 100;

  private SuspectTables() {}

  /**
   * Reads the first rows of {@code table} and closes it; an address outside its memory would crash
   * the process. There may be more rows than there is room for Java values.
   */
  public static void readStart(Table table, DeviceExtension device) {
    try (table;
        Table start = table.slice(0, Math.min(MAX_ROWS, table.rowCount()))) {
      assertThat(device.rows(start)).hasSize(start.rowCount());
    } catch (DateTimeException e) {
      assertThat(e).hasMessageContaining("nvalid value");
    }
  }
}
