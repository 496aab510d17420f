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
import java.util.UUID;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** State of versions before the present one is restored for ever. */
@ExtendWith(NothingHeldExtension.class)
class EarlierStateFormatsTest {
  // Written by a subtask of all key groups with version 1, which had one table: the rows (1, 10),
  // (2, 20), (1, 5).
  private static final byte[] FIRST =
      decode(
          "TUxSUwAAAAEAAACQXi0xWV49SVGjKbGLbtpphwAAAAEAB2F1Y3Rpb24AAAVJTlQ2NAAAAAAAAAAA"
              + "AAADAAkkQ09VTlQoKikAAAVJTlQ2NAAAAAAAAAAADSRTVU0oYHByaWNlYCkAAAVJTlQ2NAAAAAAA"
              + "AAAADyRDT1VOVChgcHJpY2VgKQAABUlOVDY0AAAAAAAAAAAAAAAAAAACwS+AMgAAAAIdWLSUAQAA"
              + "AAAAAAACAAAAAAAAAA8AAAAAAAAAAgAAAAAAAAACAAAAAAAAAAEAAAAAAAAAFAAAAAAAAAABAAAA"
              + "AAAAAA==");
  // With version 2, whose blocks were plain: the rows ('short', 10),
  // ('a string of 26 bytes, or so', 20), ('short', 5).
  private static final byte[] PLAIN =
      decode(
          "TUxSUwAAAAIAAACa1ZgakAIPQnutHxn/PI1QawAAAAEABG5hbWUBAAZTVFJJTkcAAAAAAAAAAAAA"
              + "AwAJJENPVU5UKCopAAAFSU5UNjQAAAAAAAAAAA0kU1VNKGBwcmljZWApAAAFSU5UNjQAAAAAAAAA"
              + "AA8kQ09VTlQoYHByaWNlYCkAAAVJTlQ2NAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAmIlLSMA"
              + "AAACAAAAAAAAACCslTxUaeAW2QUAAABzaG9ydAAAAAAAAAAAAAAAAAAAAAIAAAAAAAAADwAAAAAA"
              + "AAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAbAAAAYSBzdAAAAAAAAAAAAAAAAAAAAAABAAAAAAAA"
              + "ABQAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAYSBzdHJpbmcgb2YgMjYgYnl0ZXMsIG9y"
              + "IHNvAAAAAAA=");
  // The same as an incremental checkpoint, with version 1 of files of pages.
  private static final byte[] PLAIN_INDEX =
      decode(
          "TUxSSQAAAAEAAADG2QllHpmHSneunheTBNqt3QAAAAEABG5hbWUBAAZTVFJJTkcAAAAAAAAAAAAA"
              + "AwAJJENPVU5UKCopAAAFSU5UNjQAAAAAAAAAAA0kU1VNKGBwcmljZWApAAAFSU5UNjQAAAAAAAAA"
              + "AA8kQ09VTlQoYHByaWNlYCkAAAVJTlQ2NAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAgAAAAGT"
              + "gDjynHFOSJiOh/6m7MVuAAAQAAAAAAAAAAAAAAAAIAAAAAAAAAC0V61EQQ==");
  private static final String PLAIN_FILE_ID = "938038f2-9c71-4e48-988e-87fea6ecc56e";
  private static final byte[] PLAIN_FILE =
      decode(
          "TUxSUAAAAAEAAAAQk4A48pxxTkiYjof+puzFbipB+ngAAAACAAAAAAAAACCslTxUaeAW2QUAAABz"
              + "aG9ydAAAAAAAAAAAAAAAAAAAAAIAAAAAAAAADwAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
              + "AAAbAAAAYSBzdAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAABQAAAAAAAAAAQAAAAAAAAAAAAAAAAAA"
              + "AAAAAAAAAAAAYSBzdHJpbmcgb2YgMjYgYnl0ZXMsIG9yIHNvAAAAAAA=");
  // The same with version 3, which had one state.
  private static final byte[] ONE_STATE =
      decode(
          "TUxSUwAAAAMAAACabEcg/TmiQ1i52r3uhxMmsAAAAAEABG5hbWUBAAZTVFJJTkcAAAAAAAAAAAAA"
              + "AwAJJENPVU5UKCopAAAFSU5UNjQAAAAAAAAAAA0kU1VNKGBwcmljZWApAAAFSU5UNjQAAAAAAAAA"
              + "AA8kQ09VTlQoYHByaWNlYCkAAAVJTlQ2NAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAkwwelQA"
              + "AAACAAAAAAAAACCslTxUaeAW2QAAAAAFAAAAc2hvcnQAAAAAAAAAAAAAAAAAAAACAAAAAAAAAA8A"
              + "AAAAAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGwAAAGEgc3QAAAAAAAAAAAAAAAAAAAAAAQAA"
              + "AAAAAAAUAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABhIHN0cmluZyBvZiAyNiBi"
              + "eXRlcywgb3Igc28AAAAAAA==");
  // The same as an incremental checkpoint, with version 1 of the index.
  private static final byte[] ONE_STATE_INDEX =
      decode(
          "TUxSSQAAAAEAAADGEyuaH/wLQ+auabUip+gPjQAAAAEABG5hbWUBAAZTVFJJTkcAAAAAAAAAAAAA"
              + "AwAJJENPVU5UKCopAAAFSU5UNjQAAAAAAAAAAA0kU1VNKGBwcmljZWApAAAFSU5UNjQAAAAAAAAA"
              + "AA8kQ09VTlQoYHByaWNlYCkAAAVJTlQ2NAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAgAAAAGd"
              + "xXYifFFKEJZfOzVR76JsAAAQAAAAAAAAAAAAAAAAIAAAAAAAAAC84HTtbA==");
  private static final String ONE_STATE_FILE_ID = "9dc57622-7c51-4a10-965f-3b3551efa26c";
  private static final byte[] ONE_STATE_FILE =
      decode(
          "TUxSUAAAAAIAAAAQncV2InxRShCWXzs1Ue+ibALP06MAAAACAAAAAAAAACCslTxUaeAW2QAAAAAF"
              + "AAAAc2hvcnQAAAAAAAAAAAAAAAAAAAACAAAAAAAAAA8AAAAAAAAAAgAAAAAAAAAAAAAAAAAAAAAA"
              + "AAAAAAAAGwAAAGEgc3QAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAUAAAAAAAAAAEAAAAAAAAAAAAA"
              + "AAAAAAAAAAAAAAAAAAAAAABhIHN0cmluZyBvZiAyNiBieXRlcywgb3Igc28AAAAAAA==");
  private static final Job JOB =
      new Job(
          Schema.of(
              new Field("auction", DataType.INT64, false),
              Field.of("price", DataType.INT32),
              new Field("bidder", DataType.INT64, false)),
          List.of("auction"),
          count(),
          sum("price"));

  private static final Job JOB_OF_NAMES =
      new Job(
          Schema.of(Field.of("name", DataType.STRING), Field.of("price", DataType.INT32)),
          List.of("name"),
          count(),
          sum("price"));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static byte[] decode(String base64) {
    return Base64.getDecoder().decode(base64);
  }

  private static OperatorSubtaskState full(byte[] bytes) {
    KeyGroupRangeOffsets offsets =
        new KeyGroupRangeOffsets(
            KeyGroupRange.of(0, GroupAggregateHarness.MAX_PARALLELISM - 1),
            new long[GroupAggregateHarness.MAX_PARALLELISM]);
    return OperatorSubtaskState.builder()
        .setRawKeyedState(
            new KeyGroupsStateHandle(offsets, new ByteStreamStateHandle("state", bytes)))
        .build();
  }

  @Test
  void stateOfTheFirstVersionIsRestored() throws Exception {
    try (GroupAggregateHarness harness = JOB.restore(device, full(FIRST))) {
      assertThat(harness.changes(List.of(1L, 1, 0L), List.of(2L, 1, 0L)))
          .containsExactly("-U[1, 2, 15]", "+U[1, 3, 16]", "-U[2, 1, 20]", "+U[2, 2, 21]");
    }
  }

  @Test
  void stateWithPlainBlocksIsRestored() throws Exception {
    assertRestored(full(PLAIN));
  }

  @Test
  void stateOfOneSchemaIsRestored() throws Exception {
    assertRestored(full(ONE_STATE));
    assertRestored(pages(ONE_STATE_INDEX, ONE_STATE_FILE, ONE_STATE_FILE_ID));
  }

  @Test
  void pagesWithPlainBlocksAreRestored() throws Exception {
    assertRestored(pages(PLAIN_INDEX, PLAIN_FILE, PLAIN_FILE_ID));
  }

  private static OperatorSubtaskState pages(byte[] index, byte[] file, String fileId) {
    return OperatorSubtaskState.builder()
        .setManagedKeyedState(
            new IncrementalRemoteKeyedStateHandle(
                new UUID(0, 1),
                KeyGroupRange.of(0, GroupAggregateHarness.MAX_PARALLELISM - 1),
                1,
                List.of(HandleAndLocalPath.of(new ByteStreamStateHandle("file", file), fileId)),
                List.of(),
                new ByteStreamStateHandle("index", index)))
        .build();
  }

  private void assertRestored(OperatorSubtaskState state) throws Exception {
    try (GroupAggregateHarness harness = JOB_OF_NAMES.restore(device, state)) {
      assertThat(harness.changes(List.of("short", 1), List.of("a string of 26 bytes, or so", 1)))
          .containsExactly(
              "-U[short, 2, 15]",
              "+U[short, 3, 16]",
              "-U[a string of 26 bytes, or so, 1, 20]",
              "+U[a string of 26 bytes, or so, 2, 21]");
    }
  }
}
