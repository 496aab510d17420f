// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.HostMemory;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** The words of the rows of a snapshot. */
final class SnapshotWords {
  private SnapshotWords() {}

  static List<Long> of(StateSnapshot snapshot, DeviceExtension device) {
    List<Long> words = new ArrayList<>();
    try {
      snapshot.read(
          device.stream(),
          block -> {
            for (long i = 0; i < block.byteCount(); i += Long.BYTES) {
              words.add(HostMemory.getLong(block.address() + i));
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return words;
  }
}
