// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.HostMemory;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import java.util.List;
import org.junit.jupiter.api.Test;

class ValueStringsTest {
  private static final Schema INPUT =
      Schema.of(new Field("k", DataType.INT64, false), Field.of("s", DataType.STRING));
  private static final int LIMIT = 1 << 29;

  private static StateSchema schema(Function... functions) {
    List<Accumulator> accumulators =
        List.of(functions).stream().map(f -> new Accumulator("$" + f + "(`s`)", f, 1)).toList();
    return new StateSchema(INPUT, List.of(0), accumulators, StateSchema.NO_KINDS);
  }

  private static StringLengths oneString(int length) {
    StringLengths lengths = new StringLengths();
    long bytes = (long) StringLengths.COUNTS * Long.BYTES;
    long counts = HostMemory.allocate(bytes);
    try {
      HostMemory.fill(counts, bytes, (byte) 0);
      HostMemory.putLong(counts + (long) StringLengths.countOf(length) * Long.BYTES, 1);
      lengths.add(counts);
    } finally {
      HostMemory.free(counts);
    }
    return lengths;
  }

  @Test
  void stringsThatGrowHaveALimit() {
    StateSchema lists = schema(Function.MAX, Function.LISTAGG);
    ValueStrings.checkGrowth(lists, oneString(LIMIT - 1));
    assertThat(oneString(LIMIT - 1).mostBytes(1)).isEqualTo(LIMIT - 1);
    ValueStrings.checkGrowth(schema(Function.MAX), oneString(LIMIT));
    assertThatThrownBy(() -> ValueStrings.checkGrowth(lists, oneString(LIMIT)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("expected strings of less than 512 MiB for LISTAGG '$LISTAGG(`s`)'");
  }
}
