package io.millrace.operators.api;

import java.util.List;

/**
 * One operator of a stream, or a change of its distribution, as {@link ColumnStream#explain} prints
 * it.
 *
 * @param name what it does
 * @param hostReasons why which part of it runs on the host whatever the device; empty if nothing
 *     does
 * @param runsOnDevice whether it works on the operator's device at all
 */
record Stage(String name, boolean runsOnDevice, List<String> hostReasons) {
  Stage {
    hostReasons = List.copyOf(hostReasons);
  }

  /** A stage that runs on the operator's device. */
  static Stage onDevice(String name, String... hostReasons) {
    return new Stage(name, true, List.of(hostReasons));
  }

  /** A stage that runs on the host. */
  static Stage onHost(String name, String... reasons) {
    return new Stage(name, false, List.of(reasons));
  }

  /** Adds this stage's lines. */
  void print(int number, StringBuilder text) {
    text.append(number).append(". ").append(name);
    text.append(runsOnDevice ? " [device]" : " [host]").append('\n');
    hostReasons.forEach(reason -> text.append("   on the host: ").append(reason).append('\n'));
  }
}
