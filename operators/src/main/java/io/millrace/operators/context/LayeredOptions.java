// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.flink.annotation.Internal;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
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
  public static LayeredOptions of(AbstractStreamOperator<?> operator) {
    return new LayeredOptions(
        operator.getContainingTask().getJobConfiguration(),
        operator.getContainingTask().getEnvironment().getTaskManagerInfo().getConfiguration());
  }

  /** The options of a process outside any job and without a TaskManager's configuration. */
  static LayeredOptions ofProcess() {
    return new LayeredOptions(new Configuration(), new Configuration());
  }

  /**
   * The options of a TaskManager's process, for work that knows no operator: of Flink's
   * configuration file, if {@code FLINK_CONF_DIR} names its folder. What was set on the command
   * line of the TaskManager is not among them.
   */
  static LayeredOptions ofConfigurationFile() {
    return new LayeredOptions(new Configuration(), GlobalConfiguration.loadConfiguration());
  }

  /**
   * Calls {@code reader}, which reads options of an operator that is being opened.
   *
   * @throws SuppressRestartsException if {@code reader} throws an IllegalArgumentException for an
   *     invalid value, because the job would fail again after each restart
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
   * @throws IllegalArgumentException if its value is invalid; the message names the option
   */
  <T> Optional<T> find(ConfigOption<T> option) {
    return ofJob(option).or(() -> ofProcess(option));
  }

  /** As {@link #find}, for an option that has a default. */
  public <T> T get(ConfigOption<T> option) {
    return find(option).orElseThrow();
  }

  /** As {@link #find}, but in the job's configuration only. */
  <T> Optional<T> ofJob(ConfigOption<T> option) {
    return job.getOptional(option);
  }

  /** As {@link #find}, but not in the job's configuration. */
  <T> Optional<T> ofProcess(ConfigOption<T> option) {
    return taskManager
        .getOptional(option)
        .or(() -> systemProperty(option))
        .or(() -> Optional.ofNullable(option.defaultValue()));
  }

  /**
   * Checks that the job does not change an option that applies to all jobs of the process. It may
   * set the value that the process has: an embedded cluster and its job have the same
   * configuration.
   *
   * @throws IllegalArgumentException if the job sets another value; the message names the option
   *     and where to set it
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
