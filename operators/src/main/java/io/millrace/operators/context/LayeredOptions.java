// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.flink.annotation.Internal;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;

/**
 * The lookup of options: in the job's configuration, then in the TaskManager's, then in the system
 * properties of the process, then their defaults.
 */
@Internal
public record LayeredOptions(ReadableConfig job, ReadableConfig taskManager) {
  /** The options of an operator's job and TaskManager. */
  static LayeredOptions of(AbstractStreamOperator<?> operator) {
    return new LayeredOptions(
        operator.getContainingTask().getJobConfiguration(),
        operator.getContainingTask().getEnvironment().getTaskManagerInfo().getConfiguration());
  }

  /** The options of a process outside any job. */
  static LayeredOptions ofProcess() {
    return new LayeredOptions(new Configuration(), new Configuration());
  }

  /**
   * Reads the options of an operator that is being opened with {@code reader}.
   *
   * @throws SuppressRestartsException if one has a value that it cannot have, which the job would
   *     fail at again after each restart
   */
  public static <T> T read(Supplier<T> reader) {
    try {
      return reader.get();
    } catch (IllegalArgumentException e) {
      throw new SuppressRestartsException(e);
    }
  }

  /**
   * The value of {@code option}, if it has one.
   *
   * @throws IllegalArgumentException if its value is invalid; names the option
   */
  <T> Optional<T> find(ConfigOption<T> option) {
    return ofJob(option).or(() -> ofProcess(option));
  }

  /** As {@link #find}, for an option that has a default. */
  <T> T get(ConfigOption<T> option) {
    return find(option).orElseThrow();
  }

  /** As {@link #find}, where only the job sets it. */
  <T> Optional<T> ofJob(ConfigOption<T> option) {
    return job.getOptional(option);
  }

  /** As {@link #find}, whatever the job sets. */
  <T> Optional<T> ofProcess(ConfigOption<T> option) {
    return taskManager
        .getOptional(option)
        .or(() -> systemProperty(option))
        .or(() -> Optional.ofNullable(option.defaultValue()));
  }

  /**
   * Checks that the job asks for no value of its own of an option that concerns all jobs. The
   * process's value is none of its own: an embedded cluster and its job have one configuration.
   *
   * @throws IllegalArgumentException if it does; names the option and where to set it
   */
  <T> void requireOfProcess(ConfigOption<T> option) {
    Optional<T> ofJob = ofJob(option);
    Optional<T> ofProcess = ofProcess(option);
    if (ofJob.isPresent() && !ofJob.equals(ofProcess)) {
      throw new IllegalArgumentException(
          option.key()
              + " is "
              + ofJob.get()
              + " in the job's configuration, but concerns all jobs of the TaskManager, which has "
              + ofProcess.map(Object::toString).orElse("none")
              + "; set it in the TaskManager's configuration instead");
    }
  }

  private static <T> Optional<T> systemProperty(ConfigOption<T> option) {
    Map<String, String> properties = new HashMap<>();
    Optional.ofNullable(System.getProperty(option.key()))
        .ifPresent(value -> properties.put(option.key(), value));
    return Configuration.fromMap(properties).getOptional(option);
  }
}
