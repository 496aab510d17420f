// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.GroupAggregateHarness;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import java.util.Base64;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** State of version 1, which had one table, is restored for ever. */
@ExtendWith(NothingHeldExtension.class)
class FirstStateFormatTest {
  // Written by a subtask of all key groups with version 1: the rows (1, 10), (2, 20), (1, 5).
  private static final byte[] STATE =
      Base64.getDecoder()
          .decode(
              "TUxSUwAAAAEAAACQXi0xWV49SVGjKbGLbtpphwAAAAEAB2F1Y3Rpb24AAAVJTlQ2NAAAAAAAAAAA"
                  + "AAADAAkkQ09VTlQoKikAAAVJTlQ2NAAAAAAAAAAADSRTVU0oYHByaWNlYCkAAAVJTlQ2NAAAAAAA"
                  + "AAAADyRDT1VOVChgcHJpY2VgKQAABUlOVDY0AAAAAAAAAAAAAAAAAAACwS+AMgAAAAIdWLSUAQAA"
                  + "AAAAAAACAAAAAAAAAA8AAAAAAAAAAgAAAAAAAAACAAAAAAAAAAEAAAAAAAAAFAAAAAAAAAABAAAA"
                  + "AAAAAA==");
  private static final Job JOB =
      new Job(
          Schema.of(
              new Field("auction", DataType.INT64, false),
              Field.of("price", DataType.INT32),
              new Field("bidder", DataType.INT64, false)),
          List.of("auction"),
          count(),
          sum("price"));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void stateOfTheFirstVersionIsRestored() throws Exception {
    KeyGroupRangeOffsets offsets =
        new KeyGroupRangeOffsets(
            KeyGroupRange.of(0, GroupAggregateHarness.MAX_PARALLELISM - 1),
            new long[GroupAggregateHarness.MAX_PARALLELISM]);
    OperatorSubtaskState state =
        OperatorSubtaskState.builder()
            .setRawKeyedState(
                new KeyGroupsStateHandle(offsets, new ByteStreamStateHandle("state", STATE)))
            .build();
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      assertThat(harness.changes(List.of(1L, 1, 0L), List.of(2L, 1, 0L)))
          .containsExactly("-U[1, 2, 15]", "+U[1, 3, 16]", "-U[2, 1, 20]", "+U[2, 2, 21]");
    }
  }
}
