// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.Device;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.SpillTier;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.memory.spill.SpillException;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.operators.testing.NothingHeldExtension;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(NothingHeldExtension.class)
class SharedDeviceMemoryTest {
  private static final int BUFFER_BYTES = 4096;

  private final Device device = Device.current();

  @TempDir private Path directory;

  private JobEnvironment job(String name, Map<String, String> jobOptions) {
    return job(name, jobOptions, Map.of());
  }

  private JobEnvironment job(
      String name, Map<String, String> jobOptions, Map<String, String> taskManagerOptions) {
    return new JobEnvironment(
        directory.resolve(name),
        name,
        new LayeredOptions(
            Configuration.fromMap(jobOptions), Configuration.fromMap(taskManagerOptions)),
        List.of(directory),
        Optional.empty());
  }

  private ChainResources chain(JobEnvironment job) {
    return ChainResources.acquire(new Object(), job, () -> device);
  }

  private static Buffer buffer(ChainResources chain) {
    return Buffer.allocate(BUFFER_BYTES, chain.stream(), chain.resource());
  }

  private static void read(Buffer buffer, ChainResources chain) {
    try (AccessScope scope = AccessScope.on(chain.stream())) {
      assertThat(buffer.access(AccessMode.READ, scope)).isNotZero();
    }
  }

  @Test
  void chainsOfAJobHaveOneShareAndJobsOneManager() {
    ChainResources first = chain(job("a", Map.of()));
    ChainResources second = chain(job("a", Map.of()));
    ChainResources other = chain(job("b", Map.of()));
    SpillQuota quota = first.resource().quota();
    assertThat(second.resource().quota()).isSameAs(quota);
    assertThat(other.resource().quota()).isNotSameAs(quota);
    assertThat(other.resource().quota().manager()).isSameAs(quota.manager());

    first.release();
    second.release();
    ChainResources again = chain(job("a", Map.of()));
    assertThat(again.resource().quota()).as("share of the job's next run").isNotSameAs(quota);
    assertThat(again.resource().quota().manager()).isSameAs(quota.manager());
    again.release();
    other.release();
  }

  @Test
  void theJobsLimitBoundsItsShareAndTheTaskManagersAllOfThem() {
    Map<String, String> taskManager = Map.of("millrace.spill.device-limit", "1 gb");
    ChainResources limited =
        chain(job("a", Map.of("millrace.spill.device-limit", "8 kb"), taskManager));
    ChainResources other = chain(job("b", Map.of(), taskManager));
    SpillQuota quota = limited.resource().quota();
    assertThat(quota.limits().deviceBytes()).isEqualTo(8 << 10);
    assertThat(other.resource().quota().limits().deviceBytes()).isEqualTo(Long.MAX_VALUE);
    assertThat(quota.manager().deviceLimitBytes()).isEqualTo(1 << 30);
    limited.release();
    other.release();
  }

  @Test
  void buffersAboveTheJobsLimitAreSpilledAndRestored() {
    ChainResources chain = chain(job("a", Map.of("millrace.spill.device-limit", "8 kb")));
    SpillQuota quota = chain.resource().quota();
    List<Buffer> buffers = List.of(buffer(chain), buffer(chain), buffer(chain));
    assertThat(quota.deviceBytes()).isLessThanOrEqualTo(8 << 10);
    assertThat(quota.hostBytes()).isPositive();
    read(buffers.get(0), chain);
    assertThat(quota.statistics().count(SpillTier.HOST, SpillTier.DEVICE)).isEqualTo(1);
    buffers.forEach(Buffer::close);
    chain.release();
  }

  @Test
  void spillingToDiskLeavesNoFileBehind() throws Exception {
    ChainResources chain =
        chain(
            job(
                "a",
                Map.of("millrace.spill.device-limit", "4 kb", "millrace.spill.host-limit", "0")));
    SpillQuota quota = chain.resource().quota();
    Buffer first = buffer(chain);
    Buffer second = buffer(chain);
    assertThat(quota.diskBytes()).isEqualTo(BUFFER_BYTES);
    first.close();
    second.close();
    chain.release();
    try (var files = Files.list(directory)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void noDiskIsUsedWhereItsLimitIsZero() {
    ChainResources chain =
        chain(
            job(
                "a",
                Map.of(
                    "millrace.spill.device-limit", "4 kb",
                    "millrace.spill.host-limit", "0",
                    "millrace.spill.disk-limit", "0")));
    Buffer first = buffer(chain);
    Buffer second = buffer(chain);
    assertThat(chain.resource().quota().deviceBytes()).isEqualTo(2 * BUFFER_BYTES);
    first.close();
    second.close();
    chain.release();
  }

  @Test
  void theDevicesLimitIsHard() {
    JobEnvironment job =
        job(
            "a",
            Map.of("millrace.spill.enabled", "false"),
            Map.of("millrace.device.memory-limit", "6 kb"));
    ChainResources chain = chain(job);
    Buffer first = buffer(chain);
    GpuRetry retry = new GpuRetry(chain.resource().quota(), SharedDeviceMemory.semaphore(device));
    assertThatThrownBy(() -> retry.withRetry(() -> buffer(chain)))
        .isInstanceOf(GpuOutOfMemoryException.class)
        .hasMessageContaining("limit of 6144 bytes")
        .hasMessageContaining("millrace.device.memory-limit");
    first.close();
    buffer(chain).close();
    chain.release();
  }

  @Test
  void hostMemoryOfAJobThatEndsIsFreedWhileOthersRun() {
    ChainResources other = chain(job("b", Map.of()));
    ChainResources chain = chain(job("a", Map.of("millrace.spill.device-limit", "4 kb")));
    Buffer first = buffer(chain);
    Buffer second = buffer(chain);
    assertThat(chain.resource().quota().hostBytes()).isEqualTo(BUFFER_BYTES);
    first.close();
    second.close();
    long reservedBytes = DeviceContext.reservedBytes(device);
    chain.release();
    assertThat(DeviceContext.reservedBytes(device)).isLessThan(reservedBytes);
    buffer(other).close();
    other.release();
  }

  @Test
  void memoryThatIsNotUsedAnyMoreIsGivenBack() {
    ChainResources chain = chain(job("a", Map.of()));
    device.stagingPool().acquire(100).close();
    assertThat(device.stagingPool().pinnedBytes()).isPositive();
    chain.release();
    assertThat(device.stagingPool().pinnedBytes()).isZero();
  }

  @Test
  void aBufferThatOutlivesItsJobIsCountedUntilItIsClosed() {
    ChainResources chain = chain(job("a", Map.of()));
    Buffer buffer = buffer(chain);
    chain.release();
    assertThat(DeviceContext.heldBytes(device)).isEqualTo(BUFFER_BYTES);
    buffer.close();
    assertThat(DeviceContext.heldBytes(device)).isZero();
    chain(job("b", Map.of())).release();
  }

  @Test
  void noDirectoryThatCanBeWrittenToIsAnErrorWhenTheJobOpens() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    JobEnvironment job =
        new JobEnvironment(
            "a",
            "a",
            LayeredOptions.ofProcess(),
            List.of(file.resolve("directory")),
            Optional.empty());
    assertThatThrownBy(() -> chain(job))
        .isInstanceOf(SpillException.class)
        .hasMessageContaining("io.tmp.dirs");
  }

  @Test
  void aChainThatGetsNoStreamLeavesNothingOpen() {
    Device refusing = new DeviceWithoutStreams();
    JobEnvironment job = job("a", Map.of());
    Object chain = new Object();
    assertThatThrownBy(() -> ChainResources.acquire(chain, job, () -> refusing))
        .isInstanceOf(GpuOutOfMemoryException.class);
    assertNothingIsOpen();
    ChainResources.acquire(chain, job, () -> refusing).release();
  }

  @ParameterizedTest
  @CsvSource({
    "millrace.spill.enabled, maybe",
    "millrace.spill.on-demand, maybe",
    "millrace.spill.device-limit, 5 apples",
    "millrace.spill.device-limit, -1",
    "millrace.spill.device-limit, 0",
    "millrace.spill.host-limit, much",
    "millrace.spill.disk-limit, much",
    "millrace.spill.statistics-level, 3",
    "millrace.spill.statistics-level, -1",
    "millrace.copy-on-write, maybe",
    "millrace.device.memory-limit, 0",
  })
  void aValueThatAnOptionCannotHaveIsRefusedWithTheOptionsName(String option, String value) {
    JobEnvironment job =
        option.equals(MemoryOptions.SPILL_ON_DEMAND.key())
                || option.equals(MemoryOptions.DEVICE_MEMORY_LIMIT.key())
            ? job("a", Map.of(), Map.of(option, value))
            : job("a", Map.of(option, value));
    assertThatIllegalArgumentException().isThrownBy(() -> chain(job)).withMessageContaining(option);
    assertNothingIsOpen();
  }

  @ParameterizedTest
  @CsvSource({
    "millrace.spill.on-demand, false, false, true",
    "millrace.device.memory-limit, 1 gb, 1024 mb, 2 gb",
    "millrace.gpu.concurrency, 3, 3, 4",
  })
  void anOptionOfAllJobsIsTheTaskManagersAndAJobMayOnlyRepeatIt(
      String option, String value, String same, String other) {
    Map<String, String> taskManager = Map.of(option, value);
    JobEnvironment repeats = job("a", Map.of(option, same), taskManager);
    JobEnvironment differs = job("b", Map.of(option, other), taskManager);
    JobEnvironment alone = job("c", Map.of(option, value));
    assertRefused(differs, option);
    assertRefused(alone, option);
    assertNothingIsOpen();

    ChainResources open = chain(repeats);
    assertRefused(differs, option);
    assertRefused(alone, option);
    open.release();
  }

  private void assertRefused(JobEnvironment job, String option) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> chain(job))
        .withMessageContaining(option)
        .withMessageContaining("set it in the TaskManager's configuration");
  }

  @Test
  void aJobMayRepeatTheDefaultOfAnOptionOfAllJobs() {
    chain(job("a", Map.of("millrace.spill.on-demand", "true"))).release();
  }

  private static void assertNothingIsOpen() {
    DeviceContext.wrapMemory(UnaryOperator.identity(), UnaryOperator.identity());
  }

  @Test
  void optionsAreThoseOfTheJobThenOfTheTaskManagerThenOfTheProcess() {
    ConfigOption<MemorySize> option = MemoryOptions.SPILL_HOST_LIMIT;
    System.setProperty(option.key(), "3 kb");
    try {
      assertThat(hostLimit(Map.of(option.key(), "1 kb"), Map.of(option.key(), "2 kb")))
          .isEqualTo(1 << 10);
      assertThat(hostLimit(Map.of(), Map.of(option.key(), "2 kb"))).isEqualTo(2 << 10);
      assertThat(hostLimit(Map.of(), Map.of())).isEqualTo(3 << 10);
    } finally {
      System.clearProperty(option.key());
    }
    assertThat(hostLimit(Map.of(), Map.of())).isEqualTo(Long.MAX_VALUE);
  }

  private long hostLimit(Map<String, String> jobOptions, Map<String, String> taskManagerOptions) {
    return MemoryOptions.jobLimits(job("a", jobOptions, taskManagerOptions).options(), List.of())
        .hostBytes();
  }

  @Test
  void failuresCanBePutBeneathTheMemoryOfContextsThatAreOpenedLater() {
    DeviceContext.wrapMemory(
        upstream -> FailingResourceAdaptor.nth(upstream, 1), UnaryOperator.identity());
    try (DeviceContext context = DeviceContext.open(device)) {
      assertThatThrownBy(() -> Buffer.allocate(1, context.stream(), context.resource()))
          .isInstanceOf(GpuOutOfMemoryException.class);
      assertThatIllegalStateException()
          .isThrownBy(
              () -> DeviceContext.wrapMemory(UnaryOperator.identity(), UnaryOperator.identity()));
    } finally {
      assertNothingIsOpen();
    }
  }
}
