// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.memory.SpillTier;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.HoldBatches;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RecordingMetricReporter;
import io.millrace.operators.testing.TableSourceOperator;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs that hold more than their quota of the device. */
@ExtendWith(NothingHeldExtension.class)
class JobMemoryLimitTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final Schema SCHEMA = Schema.of(Field.of("n", DataType.INT64));
  private static final int BATCHES = 40;
  private static final int ROWS = 4096;
  private static final long BATCH_BYTES = ROWS * 8;

  private final Device device = Device.current();

  private static List<List<Object>> rows(long batch) {
    return LongStream.range(batch * ROWS, (batch + 1) * ROWS)
        .mapToObj(row -> List.<Object>of(row))
        .toList();
  }

  private static Configuration limits(long deviceBytes, long hostBytes) {
    Configuration options = new Configuration();
    options.set(MemoryOptions.SPILL_DEVICE_LIMIT, new MemorySize(deviceBytes));
    options.set(MemoryOptions.SPILL_HOST_LIMIT, new MemorySize(hostBytes));
    return options;
  }

  private static StreamExecutionEnvironment job(
      Configuration options, HoldBatches hold, BatchCollector collector) {
    StreamExecutionEnvironment environment = flink.environment(2, options);
    collector.collect(hold.apply(batches(environment)));
    return environment;
  }

  private static DataStream<ColumnBatch> batches(StreamExecutionEnvironment environment) {
    return TableSourceOperator.batches(
        environment.fromSequence(0, BATCHES - 1), SCHEMA, JobMemoryLimitTest::rows);
  }

  private static FlinkJob submitAndHold(Configuration options, HoldBatches hold, BatchCollector to)
      throws Exception {
    FlinkJob job = flink.submit(job(options, hold, to));
    job.awaitUntil(() -> hold.completeSubtasks() == 2);
    return job;
  }

  private static void assertAllRows(BatchCollector collector) {
    assertThat(collector.rows().stream().mapToLong(row -> (Long) row.get(0)).sorted().toArray())
        .isEqualTo(LongStream.range(0, BATCHES * ROWS).toArray());
  }

  @Test
  void aJobThatHoldsMoreThanDeviceAndHostMayHaveGivesTheSameRows() throws Exception {
    HoldBatches hold = new HoldBatches();
    BatchCollector collector = new BatchCollector();
    FlinkJob job = submitAndHold(limits(8 * BATCH_BYTES, 4 * BATCH_BYTES), hold, collector);
    assertThat(hold.quotas()).hasSize(1);
    SpillQuota quota = hold.quotas().iterator().next();
    assertThat(quota.deviceBytes()).isLessThanOrEqualTo(8 * BATCH_BYTES);
    assertThat(quota.hostBytes()).isPositive().isLessThanOrEqualTo(4 * BATCH_BYTES);
    assertThat(quota.diskBytes()).isGreaterThanOrEqualTo((BATCHES - 12) * BATCH_BYTES);
    assertThat(DeviceContext.heldBytes(device)).isEqualTo(quota.deviceBytes());
    assertThat(DeviceContext.spilledBytes(device)).isEqualTo(quota.hostBytes() + quota.diskBytes());

    hold.release();
    job.await();
    assertAllRows(collector);
    assertThat(quota.statistics().bytes(SpillTier.DEVICE, SpillTier.HOST)).isPositive();
    assertThat(quota.statistics().bytes(SpillTier.DISK, SpillTier.DEVICE)).isPositive();
  }

  @Test
  void eachTaskReportsItsJobsMemory() throws Exception {
    HoldBatches hold = new HoldBatches();
    FlinkJob job =
        submitAndHold(limits(8 * BATCH_BYTES, 4 * BATCH_BYTES), hold, new BatchCollector());
    SpillQuota quota = hold.quotas().iterator().next();
    assertThat(values("memory.deviceBytes")).isEqualTo(ofEachSubtask(quota.deviceBytes()));
    assertThat(values("memory.hostBytes")).isEqualTo(ofEachSubtask(quota.hostBytes()));
    assertThat(values("memory.diskBytes")).isEqualTo(ofEachSubtask(quota.diskBytes()));

    List<Gauge<?>> broughtBack = RecordingMetricReporter.gauges("spill.disk_to_gpu.bytes");
    hold.release();
    job.await();
    long bytes = quota.statistics().bytes(SpillTier.DISK, SpillTier.DEVICE);
    assertThat(bytes).isPositive();
    assertThat(values(broughtBack)).isEqualTo(ofEachSubtask(bytes));
  }

  private static List<Object> values(String metric) {
    return values(RecordingMetricReporter.gauges(metric));
  }

  private static List<Object> values(List<Gauge<?>> gauges) {
    return gauges.stream().<Object>map(Gauge::getValue).toList();
  }

  private static List<Object> ofEachSubtask(long value) {
    return List.of(value, value);
  }

  @Test
  void hostMemoryIsPaidFromManagedMemory() throws Exception {
    HoldBatches hold = new HoldBatches();
    BatchCollector collector = new BatchCollector();
    Configuration options = limits(8 * BATCH_BYTES, Long.MAX_VALUE);
    FlinkJob job = submitAndHold(options, hold, collector);
    SpillQuota quota = hold.quotas().iterator().next();
    assertThat(quota.hostBytes()).isPositive();
    assertThat(quota.diskBytes()).as("enough managed memory for all").isZero();
    hold.release();
    job.await();
    assertAllRows(collector);
  }

  @Test
  void jobsShareAManagerButNotTheirLimits() throws Exception {
    HoldBatches smallHold = new HoldBatches();
    HoldBatches largeHold = new HoldBatches();
    BatchCollector small = new BatchCollector();
    BatchCollector large = new BatchCollector();
    FlinkJob smallJob = submitAndHold(limits(4 * BATCH_BYTES, BATCH_BYTES), smallHold, small);
    FlinkJob largeJob = submitAndHold(limits(24 * BATCH_BYTES, BATCH_BYTES), largeHold, large);
    SpillQuota smallQuota = smallHold.quotas().iterator().next();
    SpillQuota largeQuota = largeHold.quotas().iterator().next();
    assertThat(smallQuota).isNotSameAs(largeQuota);
    assertThat(smallQuota.manager()).isSameAs(largeQuota.manager());
    assertThat(smallQuota.deviceBytes()).isLessThanOrEqualTo(4 * BATCH_BYTES);
    assertThat(largeQuota.deviceBytes()).isBetween(16 * BATCH_BYTES, 24 * BATCH_BYTES);

    smallHold.release();
    smallJob.await();
    assertAllRows(small);
    assertThat(DeviceContext.heldBytes(device)).isEqualTo(largeQuota.deviceBytes());
    assertThat(DeviceContext.spilledBytes(device))
        .isEqualTo(largeQuota.hostBytes() + largeQuota.diskBytes());
    largeHold.release();
    largeJob.await();
    assertAllRows(large);
  }

  @Test
  void aJobThatIsCancelledLeavesNothing() throws Exception {
    FlinkJob job =
        submitAndHold(
            limits(4 * BATCH_BYTES, 4 * BATCH_BYTES), new HoldBatches(), new BatchCollector());
    assertThat(DeviceContext.spilledBytes(device)).isPositive();
    job.cancel();
    assertThat(job.status()).isEqualTo(JobStatus.CANCELED);
  }

  @Test
  void aJobThatFailsLeavesNothing() throws Exception {
    HoldBatches hold = new HoldBatches();
    FlinkJob job =
        submitAndHold(limits(4 * BATCH_BYTES, 4 * BATCH_BYTES), hold, new BatchCollector());
    assertThat(DeviceContext.spilledBytes(device)).isPositive();
    hold.fail();
    assertThatThrownBy(job::await).hasMessageContaining("as the test wants it");
  }

  @Test
  void aLimitBelowOneBatchFailsTheJobWithTheOptionToSet() throws Exception {
    FlinkJob job =
        flink.submit(job(limits(BATCH_BYTES - 1, 0), new HoldBatches(), new BatchCollector()));
    assertThatThrownBy(job::await)
        .hasMessageContaining(BATCH_BYTES + " bytes in one buffer")
        .hasMessageContaining("set " + MemoryOptions.SPILL_DEVICE_LIMIT.key() + " to more");
  }

  @Test
  void anOptionOfAllJobsInTheConfigurationOfOneIsRefused() {
    Configuration options =
        new Configuration().set(MemoryOptions.DEVICE_MEMORY_LIMIT, MemorySize.ofMebiBytes(512));
    StreamExecutionEnvironment environment = flink.environment(1, options);
    batches(environment).sinkTo(new DiscardingSink<>());
    assertThatThrownBy(() -> flink.run(environment))
        .hasMessageContaining("millrace.device.memory-limit is 512 mb in the job's configuration");
  }

  @Test
  void anEmbeddedClusterSharesItsConfigurationWithItsJob() throws Exception {
    Configuration options =
        new Configuration()
            .set(MemoryOptions.DEVICE_MEMORY_LIMIT, MemorySize.ofMebiBytes(512))
            .set(MemoryOptions.SPILL_ON_DEMAND, false);
    BatchCollector collector = new BatchCollector();
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.createLocalEnvironment(1, options);
    collector.collect(batches(environment));
    environment.execute();
    assertAllRows(collector);
  }
}
