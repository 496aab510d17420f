// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** The words of the rows of a snapshot, and of the long strings behind each block of rows. */
final class SnapshotWords {
  private SnapshotWords() {}

  static List<Long> of(StateSnapshot snapshot, DeviceExtension device) {
    return of(snapshot, device.stream());
  }

  static List<Long> of(StateSnapshot snapshot, DeviceStream stream) {
    List<Long> words = new ArrayList<>();
    try {
      snapshot.read(stream, block -> words.addAll(of(block)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return words;
  }

  static List<Long> of(StateBlock block) {
    List<Long> words = new ArrayList<>();
    for (long i = 0; i < block.byteCount(); i += Long.BYTES) {
      words.add(HostMemory.getLong(block.address() + i));
    }
    for (long i = 0; i < block.stringBytes(); i += Long.BYTES) {
      words.add(HostMemory.getLong(block.stringAddress() + i));
    }
    return words;
  }
}
