// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class RepeatTransformTest {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("name", DataType.STRING, true),
          new Field("tags", DataType.list(DataType.INT32), true));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @OutOfMemoryTest
  void eachRowComesWithTheNumbersOfItsCopies() throws Exception {
    try (TransformHarness harness =
        new TransformHarness(device, SCHEMA, RepeatTransform.factory(3, "copy"))) {
      harness.send(5, List.of(List.of("a", List.of(1, 2)), Arrays.asList(null, null)));
      assertThat(harness.rows())
          .containsExactlyInAnyOrder(
              List.of(0, "a", List.of(1, 2)),
              List.of(1, "a", List.of(1, 2)),
              List.of(2, "a", List.of(1, 2)),
              Arrays.asList(0, null, null),
              Arrays.asList(1, null, null),
              Arrays.asList(2, null, null));
      assertThat(harness.batches()).allMatch(batch -> batch.timestamp() == 5);
    }
  }

  @Test
  void aTableOfTooManyRowsIsSplit() throws Exception {
    Schema numbers = Schema.of(new Field("n", DataType.INT32, false));
    try (TransformHarness harness =
        new TransformHarness(device, numbers, RepeatTransform.factory(4, "copy", 20))) {
      harness.send(0, IntStream.range(0, 9).<List<?>>mapToObj(List::of).toList());
      assertThat(harness.batches())
          .extracting(batch -> batch.rows().size())
          .containsExactly(16, 20);
    }
  }

  @Test
  void theNumberNeedsANameOfItsOwn() {
    assertThat(RepeatTransform.outputSchema(SCHEMA, "copy").names())
        .containsExactly("copy", "name", "tags");
    assertThatThrownBy(() -> RepeatTransform.outputSchema(SCHEMA, "tags"))
        .isInstanceOf(ExpressionException.class)
        .hasMessage("two columns are called 'tags'");
  }

  @Test
  void aRowIsGivenAtLeastOnce() {
    assertThatThrownBy(() -> RepeatTransform.factory(0, "copy"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected a positive number of copies, got 0");
  }
}
