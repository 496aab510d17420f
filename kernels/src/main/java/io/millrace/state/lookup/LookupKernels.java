// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.lookup;

import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateSchema;
import java.util.List;

/**
 * The search for keys, on the host or by the kernels of state_lookup.cu, with the same bits.
 * Nothing is allocated.
 */
interface LookupKernels {
  PerDevice<LookupKernels> KERNELS =
      new PerDevice<>(host -> new HostLookupKernels(), CudaLookupKernels::new);

  /**
   * Keys that are looked up.
   *
   * @param table null if it has no rows
   * @param hasNullWord whether state rows have a null word behind the words of {@code key}
   * @param rows of the batch, or state rows with keys: at least 1
   */
  record Keys(
      StateSchema schema,
      StateAccess table,
      List<KeyWord> key,
      boolean hasNullWord,
      int rows,
      DeviceStream stream) {}

  /**
   * State rows with keys, as {@link KeyWord#ofRows} reads them, and where the rows that are found
   * are copied to.
   *
   * @param source the first row, which the words of the key are copied from
   * @param sourceWords of a row there
   * @param expiry which rows count as missing
   * @param target where the copies go
   */
  record Copies(Keys keys, long source, int sourceWords, Expiry expiry, long target) {}

  /**
   * Writes the number of each key's row, or {@link StateLookup#NO_ROW}. Enqueued.
   *
   * @param width bytes of a number: 4 or 8
   */
  void find(Keys keys, long numbers, int width);

  /** Copies the row of each key; zeros behind its key if it has none. Enqueued. */
  void copy(Copies copies);
}
