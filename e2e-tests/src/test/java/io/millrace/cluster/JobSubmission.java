// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A job to run on a cluster.
 *
 * @param jar the jar with the job's classes
 * @param entryClass the class whose {@code main} builds the job
 * @param arguments the arguments of {@code main}
 * @param parallelism the job's default parallelism
 * @param restorePath the checkpoint or savepoint to start from, if any
 * @param configuration Flink options of this job alone
 */
record JobSubmission(
    Path jar,
    String entryClass,
    List<String> arguments,
    int parallelism,
    Optional<String> restorePath,
    Map<String, String> configuration) {
  JobSubmission {
    arguments = List.copyOf(arguments);
    configuration = Map.copyOf(configuration);
  }

  /** With Flink options besides those of the job. */
  JobSubmission withConfiguration(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(configuration);
    all.putAll(more);
    return new JobSubmission(jar, entryClass, arguments, parallelism, restorePath, all);
  }

  JobSubmission withArgument(String argument) {
    List<String> all = new ArrayList<>(arguments);
    all.add(argument);
    return new JobSubmission(jar, entryClass, all, parallelism, restorePath, configuration);
  }

  JobSubmission withParallelism(int newParallelism) {
    return new JobSubmission(
        jar, entryClass, arguments, newParallelism, restorePath, configuration);
  }

  JobSubmission restoredFrom(String path) {
    return restoredFrom(Optional.of(path));
  }

  JobSubmission restoredFrom(Optional<String> path) {
    return new JobSubmission(jar, entryClass, arguments, parallelism, path, configuration);
  }
}
