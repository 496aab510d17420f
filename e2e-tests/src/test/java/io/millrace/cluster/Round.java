// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One of the runs of a job that is killed and restored: its parallelism, its device and its
 * checkpoints differ from those of the run before.
 *
 * @param number from 0
 * @param device as {@code millrace.device}; empty for the device of the cluster
 */
record Round(
    int number,
    int parallelism,
    Optional<String> device,
    boolean isUnaligned,
    boolean isIncremental) {
  /** How many rounds a job has. */
  static final int COUNT = Integer.getInteger("millrace.cluster.rounds", 2);

  private static final List<Integer> PARALLELISMS = List.of(2, 3, 1);
  // The devices that follow each other, such as cuda,host.
  private static final List<String> DEVICES =
      List.of(System.getProperty("millrace.cluster.devices", "").split(","));
  private static final int MODES = 4;

  /**
   * Round {@code number}. Four rounds on each device have all combinations of aligned or unaligned
   * and full or incremental checkpoints.
   *
   * @param first says which parallelism and which combination the first round has, from 0
   */
  static Round of(int number, int first) {
    int mode = (first + number / DEVICES.size()) % MODES;
    return new Round(
        number,
        next(PARALLELISMS, first + number),
        Optional.of(next(DEVICES, number)).filter(name -> !name.isEmpty()),
        mode % 2 == 1,
        mode == 1 || mode == 2);
  }

  private static <T> T next(List<T> values, int number) {
    return values.get(number % values.size());
  }

  /** The submission with the parallelism, the device and the checkpoints of this round. */
  JobSubmission of(JobSubmission submission) {
    JobSubmission configured =
        submission.withConfiguration(
            Map.of(
                "execution.checkpointing.unaligned.enabled", String.valueOf(isUnaligned),
                "execution.checkpointing.incremental", String.valueOf(isIncremental)));
    return device.map(name -> configured.withArgument("--device=" + name)).orElse(configured);
  }

  @Override
  public String toString() {
    return "round %d of %d, %d slots%s, %s and %s checkpoints"
        .formatted(
            number + 1,
            COUNT,
            parallelism,
            device.map(name -> " on " + name).orElse(""),
            isUnaligned ? "unaligned" : "aligned",
            isIncremental ? "incremental" : "full");
  }
}
