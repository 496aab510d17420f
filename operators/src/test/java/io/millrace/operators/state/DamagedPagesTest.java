// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static io.millrace.operators.state.IncrementalCheckpointTest.JOB;
import static io.millrace.operators.state.IncrementalCheckpointTest.PAGE_ROWS;
import static io.millrace.operators.state.IncrementalCheckpointTest.handle;
import static io.millrace.operators.state.IncrementalCheckpointTest.rows;
import static io.millrace.operators.state.IncrementalCheckpointTest.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.millrace.operators.aggregate.GroupAggregateHarness;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Files of an incremental checkpoint that are not as they were written. */
@ExtendWith(NothingHeldExtension.class)
class DamagedPagesTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();
  @TempDir Path temporary;

  private Throwable failure(OperatorSubtaskState state) {
    return catchThrowable(() -> JOB.restore(device, state).close());
  }

  @Test
  void aMissingOrAnotherOrADamagedFileIsRefused() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 4 * PAGE_ROWS, 1));
      take(harness, folder, 1);
      harness.send(2, rows(PAGE_ROWS, PAGE_ROWS + 1, 10));
      state = take(harness, folder, 2);
    }
    List<Path> files = new ArrayList<>(folder.sharedFiles());
    files.sort(Comparator.comparing(shared -> shared.toFile().length()));
    // All bytes of the later checkpoint's file are in use.
    Path file = files.get(0);
    Path other = files.get(1);
    byte[] bytes = Files.readAllBytes(file);
    Files.copy(other, file, StandardCopyOption.REPLACE_EXISTING);
    assertThat(failure(state))
        .hasMessageMatching("keyed state is damaged: expected its file .*, got its file .*");
    Random bits = random.random();
    for (int i = 0; i < bytes.length; i += i < 100 ? 1 : 40_000) {
      byte[] damaged = bytes.clone();
      damaged[i] ^= (byte) (1 << bits.nextInt(Byte.SIZE));
      Files.write(file, damaged);
      assertThat(failure(state))
          .as("a bit of byte %d of %d", i, bytes.length)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("keyed state");
    }
    for (int length : new int[] {0, 10, 40, bytes.length - 1}) {
      Files.write(file, Arrays.copyOf(bytes, length));
      assertThat(failure(state))
          .as("%d of %d bytes", length, bytes.length)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("keyed state is damaged: it");
    }
    Files.delete(file);
    assertThat(failure(state))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("keyed state cannot be read from ")
        .hasMessageContaining(file.getFileName().toString());
    Files.write(file, bytes);
    assertThat(failure(state)).isNull();
  }

  @Test
  void aDamagedIndexIsRefused() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 10, 1));
      state = take(harness, folder, 1);
    }
    IncrementalRemoteKeyedStateHandle whole = handle(state);
    byte[] bytes;
    try (InputStream index = whole.getMetaDataStateHandle().openInputStream()) {
      bytes = index.readAllBytes();
    }
    Random bits = random.random();
    for (int i = 0; i < bytes.length; i++) {
      byte[] damaged = bytes.clone();
      damaged[i] ^= (byte) (1 << bits.nextInt(Byte.SIZE));
      assertThat(failure(with(whole, damaged, whole.getSharedState())))
          .as("a bit of byte %d of %d", i, bytes.length)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("keyed state");
    }
    assertThat(failure(with(whole, bytes, List.of())))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("keyed state is damaged: the checkpoint lacks its file ");
  }

  @Test
  void filesOfAnotherStateBackendAreRefused() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      state = take(harness, new CheckpointFolder(temporary), 1);
    }
    HandleAndLocalPath file =
        HandleAndLocalPath.of(new ByteStreamStateHandle("file", new byte[1]), "000012.sst");
    assertThat(failure(with(handle(state), new byte[0], List.of(file))))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "expected keyed state of a checkpoint of this operator, got the file 000012.sst");
  }

  private static OperatorSubtaskState with(
      IncrementalRemoteKeyedStateHandle whole, byte[] index, List<HandleAndLocalPath> files) {
    return OperatorSubtaskState.builder()
        .setManagedKeyedState(
            new IncrementalRemoteKeyedStateHandle(
                whole.getBackendIdentifier(),
                whole.getKeyGroupRange(),
                whole.getCheckpointId(),
                files,
                List.of(),
                new ByteStreamStateHandle("index", index)))
        .build();
  }
}
