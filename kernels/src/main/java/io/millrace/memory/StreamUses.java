// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import java.util.ArrayList;
import java.util.List;

/** The latest work of each stream that uses some memory. Guarded by the memory's owner. */
final class StreamUses {
  // Most memory is used on one stream only, and has none.
  private List<Use> uses = List.of();

  private record Use(AccessMode mode, DeviceStream stream, DeviceEvent event) {}

  /** Makes later work of {@code user} wait for the uses that conflict with {@code mode}. */
  void orderBefore(AccessMode mode, DeviceStream user) {
    for (Use use : uses) {
      if (use.stream != user && (mode == AccessMode.WRITE || use.mode == AccessMode.WRITE)) {
        user.waitFor(use.event);
      }
    }
  }

  /** Adds a use, which covers earlier ones of the same stream. */
  void add(AccessMode mode, DeviceStream user, DeviceEvent event) {
    if (uses.isEmpty()) {
      uses = new ArrayList<>(1);
    }
    uses.removeIf(
        use -> {
          boolean covered = use.stream == user && (use.mode == mode || mode == AccessMode.WRITE);
          if (covered) {
            use.event.close();
          }
          return covered;
        });
    uses.add(new Use(mode, user, event.retain()));
  }

  /**
   * Makes later work of {@code stream} wait for every use. If {@code stream} is closed, the host
   * waits; if neither can wait, the device has failed and runs nothing any more.
   */
  void orderAllBefore(DeviceStream stream, FirstFailure failure) {
    for (Use use : uses) {
      failure.run(() -> waitFor(use.event, stream));
    }
  }

  /** Forgets every use, when what comes next on the memory is ordered behind them. */
  void clear(FirstFailure failure) {
    for (Use use : uses) {
      failure.run(use.event::close);
    }
    uses = List.of();
  }

  private static void waitFor(DeviceEvent event, DeviceStream stream) {
    try {
      stream.waitFor(event);
    } catch (IllegalStateException streamIsClosed) {
      event.synchronize();
    }
  }
}
