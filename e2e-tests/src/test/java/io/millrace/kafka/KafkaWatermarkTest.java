// SPDX-License-Identifier: Apache-2.0
package io.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.connectors.kafka.KafkaDecodingOperator;
import io.millrace.connectors.kafka.KafkaDecodingOptions;
import io.millrace.connectors.kafka.RecordBlock;
import io.millrace.connectors.records.EventTimeWatermarks;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RowCollector;
import io.millrace.services.KafkaTopic;
import io.millrace.services.SharedServices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The watermark of a topic is the least of its partitions, without those that are idle. */
@ExtendWith(NothingHeldExtension.class)
class KafkaWatermarkTest {
  private static final Duration IDLE = Duration.ofSeconds(1);

  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private final RowCollector<List<Long>> collector = new RowCollector<>();

  /** The auction of each row, and the watermark that came before it. */
  private static final class WatermarkReader extends ProcessFunction<RowData, List<Long>> {
    private static final long serialVersionUID = 1L;

    @Override
    public void processElement(RowData row, Context context, Collector<List<Long>> out) {
      out.collect(List.of(row.getLong(0), context.timerService().currentWatermark()));
    }
  }

  private FlinkJob submit(
      KafkaTopic topic,
      int parallelism,
      WatermarkStrategy<RecordBlock> ofSource,
      EventTimeWatermarks ofColumn)
      throws Exception {
    StreamExecutionEnvironment environment = flink.environment(parallelism);
    environment.getConfig().setAutoWatermarkInterval(20);
    KafkaDecodingOptions options = KafkaDecodingOptions.of(new JsonRecordFormat(Bids.SCHEMA));
    collector.collect(
        ColumnStream.fromBatches(
                KafkaDecodingOperator.decode(
                    environment,
                    Bids.source(topic).build(),
                    ofSource,
                    "bids",
                    ofColumn == null ? options : options.withWatermarks(ofColumn)))
            .toRowData()
            .rescale()
            .process(new WatermarkReader())
            .setParallelism(1),
        times -> times);
    FlinkJob job = flink.submit(environment);
    job.awaitRunning();
    return job;
  }

  private static void send(KafkaTopic topic, int partition, long timestamp, long auction)
      throws Exception {
    topic.send(
        List.of(
            new ProducerRecord<>(topic.name(), partition, timestamp, null, Bids.json(auction))));
  }

  /** Sends bids to a partition until the watermark before one of them is this one. */
  private void awaitWatermark(FlinkJob job, KafkaTopic topic, int partition, long time)
      throws Exception {
    int before = collector.rows().size();
    long deadline = System.nanoTime() + Duration.ofMinutes(2).toNanos();
    while (watermark() != time) {
      int rows = collector.rows().size();
      send(topic, partition, time + 1, time + 1);
      job.awaitUntil(() -> collector.rows().size() > rows);
      assertThat(System.nanoTime()).as("watermark " + watermark()).isLessThan(deadline);
    }
    assertThat(collector.rows()).hasSizeGreaterThan(before);
  }

  private long watermark() {
    List<List<Long>> rows = collector.rows();
    return rows.isEmpty() ? Long.MIN_VALUE : rows.get(rows.size() - 1).get(1);
  }

  @Test
  void anIdlePartitionIsLeftOut() throws Exception {
    KafkaTopic topic = KafkaTopic.create(services.broker(), "idle-column", 3);
    EventTimeWatermarks watermarks = EventTimeWatermarks.of("auction").withIdleTimeout(IDLE);
    FlinkJob job = submit(topic, 2, WatermarkStrategy.noWatermarks(), watermarks);
    awaitWatermark(job, topic, 0, 999);
    awaitWatermark(job, topic, 2, 1_999);
    job.cancel();
  }

  @Test
  void aPartitionThatIsNotIdleHoldsTheWatermarkBack() throws Exception {
    KafkaTopic topic = KafkaTopic.create(services.broker(), "slow-column", 2);
    FlinkJob job =
        submit(topic, 1, WatermarkStrategy.noWatermarks(), EventTimeWatermarks.of("auction"));
    send(topic, 1, 100, 100);
    List<Long> fast = new ArrayList<>();
    for (long auction = 1_000; auction < 1_100; auction++) {
      fast.add(auction);
      send(topic, 0, auction, auction);
    }
    job.awaitUntil(() -> collector.rows().size() == fast.size() + 1);
    assertThat(collector.rows()).extracting(row -> row.get(1)).containsOnly(Long.MIN_VALUE, 99L);
    awaitWatermark(job, topic, 1, 499);
    job.cancel();
  }

  @Test
  void timestampsOfRecordsMakeWatermarksToo() throws Exception {
    KafkaTopic topic = KafkaTopic.create(services.broker(), "idle-timestamps", 3);
    WatermarkStrategy<RecordBlock> watermarks =
        WatermarkStrategy.<RecordBlock>forBoundedOutOfOrderness(Duration.ZERO)
            .withIdleness(IDLE)
            .withWatermarkAlignment("bids", Duration.ofMinutes(1));
    FlinkJob job = submit(topic, 2, watermarks, null);
    awaitWatermark(job, topic, 0, 999);
    awaitWatermark(job, topic, 2, 1_999);
    job.cancel();
  }
}
