// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;

/**
 * The options that choose an operator's device. Each option is looked up in the job's
 * configuration, then in the TaskManager's, then in the system properties of the process.
 */
@PublicEvolving
public final class DeviceOptions {
  /** {@code auto}, {@code cuda} or {@code host}; see {@link Device#select}. */
  public static final ConfigOption<String> DEVICE =
      ConfigOptions.key(Device.OPTION)
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Where operators run: 'cuda' (a GPU, or fail), 'host', or 'auto' (a GPU if there is"
                  + " one).");

  /**
   * Which GPU, unless Flink's external resource {@value #GPU_RESOURCE} assigned some; by default
   * all that the driver sees.
   */
  public static final ConfigOption<Integer> DEVICE_INDEX =
      ConfigOptions.key("millrace.device.index")
          .intType()
          .noDefaultValue()
          .withDescription(
              "Which GPU to use where Flink's external resource 'gpu' assigns none; by default the"
                  + " slots of a TaskManager take turns on all that it sees.");

  /** How many subtasks of a TaskManager work on one device at once. */
  public static final ConfigOption<Integer> GPU_CONCURRENCY =
      ConfigOptions.key("millrace.gpu.concurrency")
          .intType()
          .noDefaultValue()
          .withDescription(
              "How many subtasks of a TaskManager, of all its jobs, work on one device at once; the"
                  + " others wait. Memory that a working subtask uses cannot be spilled. The default"
                  + " is 4 on a GPU, and the number of processors on the host. Set it in the"
                  + " TaskManager's configuration.");

  /** How many batches an operator may have on their way to the host. */
  public static final ConfigOption<Integer> BATCHES_IN_FLIGHT =
      ConfigOptions.key("millrace.gpu.batches-in-flight")
          .intType()
          .defaultValue(2)
          .withDescription(
              "How many batches may be on their way from a GPU to the host, at the end of a chain,"
                  + " while the next one is copied to the GPU and computed; 0 waits for each.");

  // Two copy engines and the kernels of two more subtasks keep a GPU busy.
  private static final int DEFAULT_GPU_CONCURRENCY = 4;
  private static final String GPU_RESOURCE = "gpu";
  private static final String GPU_INDEX_PROPERTY = "index";

  private DeviceOptions() {}

  /**
   * The device of {@code operator}.
   *
   * @param choice chooses one of several GPUs
   */
  static Device device(
      AbstractStreamOperator<?> operator, Function<List<Integer>, Integer> choice) {
    return device(LayeredOptions.of(operator), assignedGpus(operator), choice);
  }

  /**
   * The device that {@code options} name.
   *
   * @param assigned the GPUs that Flink assigned; empty for none
   * @param choice chooses one of several GPUs
   */
  static Device device(
      LayeredOptions options, List<Integer> assigned, Function<List<Integer>, Integer> choice) {
    String option = options.find(DEVICE).orElse("auto");
    List<Integer> gpus = option.equals("host") ? List.of() : gpus(options, assigned);
    // Where there is none, the selection says why.
    return Device.select(option, gpus.isEmpty() ? 0 : choice.apply(gpus));
  }

  private static List<Integer> gpus(LayeredOptions options, List<Integer> assigned) {
    return assigned.isEmpty()
        ? options.find(DEVICE_INDEX).map(List::of).orElseGet(Device::gpus)
        : assigned;
  }

  /**
   * How many threads may work on {@code device} at once.
   *
   * @throws IllegalArgumentException if the option is less than 1
   */
  static int concurrency(Device device, LayeredOptions options) {
    int concurrency =
        options
            .ofProcess(GPU_CONCURRENCY)
            .orElseGet(
                () ->
                    device.kind() == DeviceKind.HOST
                        ? Runtime.getRuntime().availableProcessors()
                        : DEFAULT_GPU_CONCURRENCY);
    if (concurrency < 1) {
      throw new IllegalArgumentException(
          GPU_CONCURRENCY.key() + ": expected at least 1, got " + concurrency);
    }
    return concurrency;
  }

  /**
   * How many batches {@code operator} may have on their way to the host.
   *
   * @throws IllegalArgumentException if the option is negative
   */
  public static int batchesInFlight(AbstractStreamOperator<?> operator) {
    int batches = LayeredOptions.of(operator).get(BATCHES_IN_FLIGHT);
    if (batches < 0) {
      throw new IllegalArgumentException(
          BATCHES_IN_FLIGHT.key() + ": expected at least 0, got " + batches);
    }
    return batches;
  }

  private static List<Integer> assignedGpus(AbstractStreamOperator<?> operator) {
    return operator.getRuntimeContext().getExternalResourceInfos(GPU_RESOURCE).stream()
        .flatMap(gpu -> gpu.getProperty(GPU_INDEX_PROPERTY).stream())
        .map(Integer::valueOf)
        .sorted()
        .toList();
  }
}
