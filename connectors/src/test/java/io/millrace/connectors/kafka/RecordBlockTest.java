// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** Blocks, their parts and their bytes have the records of their reader. */
class RecordBlockTest {
  private static List<String> values(RecordBlock block) {
    return IntStream.range(0, block.count())
        .mapToObj(i -> block.offset(i) + "=" + Blocks.value(block, i))
        .toList();
  }

  private static List<Long> rejected(RecordBlock block) {
    return block.rejected().stream().map(MalformedKafkaRecord::offset).toList();
  }

  @Test
  void partsHaveTheRejectedRecordsOfTheirOffsets() {
    RecordBlock block = Blocks.of(0, 10, "a", null, "b", "c", null, "x".repeat(101), "d", null);
    assertThat(values(block)).containsExactly("10=a", "12=b", "13=c", "16=d");
    assertThat(rejected(block)).containsExactly(11L, 14L, 15L, 17L);
    assertThat(block.nextOffset()).isEqualTo(18);

    RecordBlock first = block.slice(0, 1);
    RecordBlock second = block.slice(1, 2);
    RecordBlock third = block.slice(3, 1);
    assertThat(values(first)).containsExactly("10=a");
    assertThat(rejected(first)).containsExactly(11L);
    assertThat(first.nextOffset()).isEqualTo(12);
    assertThat(values(second)).containsExactly("12=b", "13=c");
    assertThat(rejected(second)).containsExactly(14L, 15L);
    assertThat(second.nextOffset()).isEqualTo(16);
    assertThat(values(third)).containsExactly("16=d");
    assertThat(rejected(third)).containsExactly(17L);
    assertThat(third.nextOffset()).isEqualTo(18);
    assertThat(third.greatestTimestamp()).isEqualTo(1_016);
  }

  @Test
  void tombstonesAloneMoveTheOffset() {
    RecordBlock block = Blocks.of(0, 5, null, null);
    assertThat(block.count()).isZero();
    assertThat(block.nextOffset()).isEqualTo(7);
    assertThat(rejected(block.slice(0, 0))).containsExactly(5L, 6L);
    assertThat(block.greatestTimestamp()).isEqualTo(Long.MIN_VALUE);
  }

  @Test
  void largeRecordsAreInBlocksOfTheirOwn() {
    RecordBlockOptions options =
        new RecordBlockOptions(List.of(), RecordBlockBuilder.MAX_BYTES, TombstonePolicy.SKIP);
    RecordBlockBuilder builder =
        new RecordBlockBuilder(new TopicPartition("topic", 0), options, new RecordLimit());
    builder.add(Blocks.record(0, 0, "a"));
    builder.add(Blocks.record(0, 1, "x".repeat(RecordBlockBuilder.MAX_BYTES)));
    builder.add(Blocks.record(0, 2, null));
    builder.add(Blocks.record(0, 3, "b"));
    assertThat(builder.finish()).extracting(RecordBlock::count).containsExactly(1, 1, 1);
    assertThat(builder.finish()).extracting(RecordBlock::nextOffset).startsWith(1L, 3L, 4L);
  }

  @Test
  void aFetchIsCutAsTheOperatorBehindAsks() {
    RecordBlock block = Blocks.of(0, 0, "a", "b", "c", "d", "e");
    block.limit().set(2);
    RecordBlocks blocks =
        new RecordBlocks(List.of(Blocks.begin(0), block, Blocks.end(0)), Set.of("topic-0"));
    List<String> parts = new ArrayList<>();
    while (blocks.nextSplit() != null) {
      for (var next = blocks.nextRecordFromSplit();
          next != null;
          next = blocks.nextRecordFromSplit()) {
        RecordBlock part = ((RecordBlocks.Carrier) next).block();
        parts.add(part.kind() + " " + part.count());
        block.limit().set(3);
      }
    }
    assertThat(parts).containsExactly("BEGIN 0", "RECORDS 3", "RECORDS 2", "END 0");
    assertThat(blocks.finishedSplits()).containsExactly("topic-0");
  }

  @Test
  void blocksAreSerialized() throws IOException {
    RecordBlock block = Blocks.of(3, 7, "first", "", null, "last").slice(1, 2);
    RecordBlock copy = copy(block);
    assertThat(values(copy)).isEqualTo(values(block)).containsExactly("8=", "10=last");
    assertThat(rejected(copy)).containsExactly(9L);
    assertThat(copy.partitionName()).isEqualTo("topic-3");
    assertThat(copy.nextOffset()).isEqualTo(11);
    assertThat(copy.key(0)).isEqualTo(Blocks.bytes("key 8"));
    assertThat(copy.header(0, 0)).isEqualTo(Blocks.bytes("trace 8"));
    assertThat(copy.timestamp(1)).isEqualTo(1_010);
    assertThat(copy(Blocks.end(2)).kind()).isEqualTo(RecordBlock.Kind.END);
    assertThat(copy(Blocks.end(2)).partition()).isEqualTo(2);
  }

  private static RecordBlock copy(RecordBlock block) throws IOException {
    DataOutputSerializer target = new DataOutputSerializer(16);
    RecordBlockSerializer.INSTANCE.serialize(block, target);
    return RecordBlockSerializer.INSTANCE.deserialize(
        new DataInputDeserializer(target.getCopyOfBuffer()));
  }
}
