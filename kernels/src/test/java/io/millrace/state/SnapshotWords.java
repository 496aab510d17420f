// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.List;

/** The words of the rows of a snapshot. */
final class SnapshotWords {
  private SnapshotWords() {}

  static List<Long> of(StateSnapshot snapshot, DeviceExtension device) {
    List<Long> words = new ArrayList<>();
    for (Buffer chunk : snapshot.chunks()) {
      try (StagingBuffer host = device.device().stagingPool().acquire(chunk.size());
          AccessScope scope = AccessScope.on(device.stream())) {
        device.stream().copy(host.address(), chunk.access(AccessMode.READ, scope), chunk.size());
        device.stream().synchronize();
        for (long i = 0; i < chunk.size(); i += Long.BYTES) {
          words.add(HostMemory.getLong(host.address() + i));
        }
      }
    }
    return words;
  }
}
