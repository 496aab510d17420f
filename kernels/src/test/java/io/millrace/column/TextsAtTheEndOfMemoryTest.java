// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.calc.Calc;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.kernel.gather.Gather;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Strings of another library whose last byte is the last byte of an allocation, without padding. On
 * a GPU it is the last byte of a page, so that reading a word beyond it is an illegal access.
 */
class TextsAtTheEndOfMemoryTest {
  private static final int RUNS = 8;
  private static final int ROWS = 1_000;
  private static final int PARTITIONS = 8;
  private static final long PAGE_BYTES = 2L << 20;
  private static final List<String> PIECES = List.of("", "a", " ", "Ab", "é", "xyz", "straße");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void kernelsDoNotReadBeyondTheLastByte() {
    long page = device.device().allocate(PAGE_BYTES);
    try {
      for (int run = 0; run < RUNS; run++) {
        try (Table table =
                new TableBuilder()
                    .column("text", DataType.STRING, texts())
                    .column("row", DataType.INT32, IntStream.range(0, ROWS).boxed().toArray())
                    .build(device);
            Table atTheEnd = withTextsBefore(page + PAGE_BYTES, table)) {
          assertSameResults(atTheEnd, table);
        }
      }
    } finally {
      device.device().free(page);
    }
  }

  private Object[] texts() {
    Random pieces = random.random();
    Object[] texts = new Object[ROWS];
    for (int row = 0; row < ROWS; row++) {
      StringBuilder text = new StringBuilder(row == ROWS - 1 ? "z" : "");
      for (int i = pieces.nextInt(6); i > 0; i--) {
        text.append(PIECES.get(pieces.nextInt(PIECES.size())));
      }
      texts[row] = text.toString();
    }
    return texts;
  }

  private Table withTextsBefore(long end, Table table) {
    Column texts = table.column(0);
    Buffer bytes = texts.data().orElseThrow();
    long address = end - bytes.size();
    try (AccessScope scope = AccessScope.on(device.stream())) {
      device.stream().copy(address, bytes.access(AccessMode.READ, scope), bytes.size());
    }
    Buffer moved = Buffer.wrap(address, bytes.size(), device.stream(), device.memory(), () -> {});
    List<Column> offsets = List.of(texts.child(0).share());
    Column column = new Column(texts.type(), texts.size(), 0, moved, null, offsets);
    return new Table(
        table.schema(), List.of(column.withNullCount(0), table.column(1).share()), ROWS);
  }

  private void assertSameResults(Table actual, Table expected) {
    for (HashFunction function :
        List.of(HashFunction.MURMUR3_32, HashFunction.FLINK_JAVA, HashFunction.FLINK_BINARY_ROW)) {
      assertThat(partitioned(actual, function)).isEqualTo(partitioned(expected, function));
    }
    assertThat(reversed(actual)).isEqualTo(reversed(expected));
    assertThat(calculated(actual)).isEqualTo(calculated(expected));
  }

  private List<List<Object>> partitioned(Table table, HashFunction function) {
    try (PartitionedTable partitioned =
        HashPartition.hashPartition(
            table, List.of(0), PARTITIONS, function, device.stream(), device.memory())) {
      return device.rows(partitioned.table());
    }
  }

  private List<List<Object>> reversed(Table table) {
    Object[] rows = IntStream.range(0, ROWS).mapToObj(row -> ROWS - 1 - row).toArray();
    try (Table map = new TableBuilder().column("row", DataType.INT32, rows).build(device);
        Table reversed = Gather.gather(table, map.column(0), device.stream(), device.memory())) {
      return device.rows(reversed);
    }
  }

  private List<List<Object>> calculated(Table table) {
    Expression text = col("text");
    List<Expression> computed =
        new ArrayList<>(
            List.of(
                text.upperCase().as("upper"),
                text.like("%ab_%").as("like"),
                text.isEqual("strassexyz").as("equal"),
                text.lt("straßexyz").as("less"),
                text.substring(2, 5).as("part"),
                call("CHAR_LENGTH", text).as("length"),
                call("TRIM", text).as("trimmed"),
                call("CONCAT", text, text).as("twice")));
    Calc calc = Calc.of(table.schema(), Optional.empty(), computed, ResolutionContext.DEFAULT);
    try (Table output = calc.apply(table, device.stream(), device.memory())) {
      return device.rows(output);
    } finally {
      calc.close();
    }
  }
}
