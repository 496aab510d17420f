// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static io.millrace.operators.process.MapCommands.ENTRIES;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.process.ProcessHarness.Job;
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

/** Values and a map that were written by the first version with several states are restored. */
@ExtendWith(NothingHeldExtension.class)
class EarlierMapStateTest {
  // Version 4, by a subtask of all key groups: entries of the keys 'a' and 'b', one was removed.
  private static final byte[] STATE =
      Base64.getDecoder()
          .decode(
              "TUxSUwAAAAQAAAJoqnqB94mNTDe17OVJa2Wq9gAAAAIAAAAAAAEAAWsBAAZTVFJJTkcAAAAAAAAA"
                  + "AAAABAAPJExBU1QoY29tbWFuZHMpAAAFSU5UNjQAAAAAAAAAABEkTEFTVChjb21tYW5kcykkMQAA"
                  + "BUlOVDY0AAAAAAAAAAARJElTX1NFVChjb21tYW5kcykAAARCT09MAAAAAAAAAAATJElTX1NFVChj"
                  + "b21tYW5kcykkMQAABUlOVDY0AAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAACAAdlbnRyaWVzAAAA"
                  + "AwABawEABlNUUklORwAAAAAAAAAABW1hcF9zAQAGU1RSSU5HAAAAAAAAAAAFbWFwX24AAAVJTlQz"
                  + "MgAAAAAAAAAAAAALAAgkTEFTVCh2KQAABlNUUklORwAAAAAAAAAACiRMQVNUKHYpJDEAAAVJTlQ2"
                  + "NAAAAAAAAAAACiRMQVNUKHYpJDIAAAVJTlQ2NAAAAAAAAAAACiRJU19TRVQodikAAARCT09MAAAA"
                  + "AAAAAAAMJElTX1NFVCh2KSQxAAAFSU5UNjQAAAAAAAAAAAwkTEFTVChjb3VudCkAAAVJTlQ2NAAA"
                  + "AAAAAAAADiRMQVNUKGNvdW50KSQxAAAFSU5UNjQAAAAAAAAAAA4kSVNfU0VUKGNvdW50KQAABEJP"
                  + "T0wAAAAAAAAAABAkSVNfU0VUKGNvdW50KSQxAAAFSU5UNjQAAAAAAAAAAAkkSVNfRU5UUlkAAARC"
                  + "T09MAAAAAAAAAAALJElTX0VOVFJZJDEAAAVJTlQ2NAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAA"
                  + "A5wNKU0AAAACAAAAAAAAAACMKLKKTkNXigAAAAABAAAAYQAAAAAAAAAAAAAAAAAAAAAAAAABAAAA"
                  + "AAAAAAEAAAAAAAAAAQAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAQAAAGIAAAAAAAAAAAAAAAAAAAAA"
                  + "AAAAAwAAAAAAAAABAAAAAAAAAAEAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAMAAAAAAAAAIKyV"
                  + "PFSs+dowAAAAAAEAAABhAAAAAAAAAAAAAAABAAAAeAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAA"
                  + "AB4AAABhIHN0AAAAAAAAAAABAAAAAAAAAAEAAAAAAAAAAQAAAAAAAAABAAAAAAAAAAEAAAAAAAAA"
                  + "AQAAAAAAAAABAAAAAAAAAAEAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB"
                  + "AAAAYgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIAAAAAAAAAAgAAAAAAAAAAAAAAAAAAAAAA"
                  + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAQAAAAAAAAABAAAAAAAAAAEAAAAAAAAAAQAA"
                  + "AAAAAAABAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAGIAAAAAAAAA"
                  + "AAAAAAEAAAB5AAAAAAAAAAAAAAADAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                  + "AAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAA"
                  + "AAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABhIHN0cmluZyBvZiBtb3JlIHRo"
                  + "YW4gMTIgYnl0ZXMAAA==");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void valuesAndEntriesAreRestored() throws Exception {
    KeyGroupRangeOffsets offsets =
        new KeyGroupRangeOffsets(
            KeyGroupRange.of(0, ProcessHarness.MAX_PARALLELISM - 1),
            new long[ProcessHarness.MAX_PARALLELISM]);
    OperatorSubtaskState state =
        OperatorSubtaskState.builder()
            .setRawKeyedState(
                new KeyGroupsStateHandle(offsets, new ByteStreamStateHandle("state", STATE)))
            .build();
    Job job = new Job(MapCommands.ROWS, List.of("k"), new MapCommands(0, true));
    try (ProcessHarness harness = job.restore(device, 0, 1, state)) {
      assertThat(
              harness.results(
                  asList("b", MapCommands.PUT, "w", 4, null),
                  asList("a", ENTRIES, null, 0, null),
                  asList("b", ENTRIES, null, 0, null)))
          .containsExactly(
              "[a, entries [+I[x, 1]=+I[a string of more than 12 bytes, 1]]]",
              "[b, entries [+I[null, 2]=+I[null, 1], +I[w, 4]=+I[null, 4]]]");
    }
  }
}
