// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.DeviceStream;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.PageIndex.Page;
import io.millrace.operators.state.PageIndex.TablePages;
import io.millrace.state.StateSnapshot;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.flink.runtime.state.AsyncSnapshotCallable;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateObject;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Writes the pages of a snapshot that changed since an earlier checkpoint, and refers to that
 * checkpoint's files for the others, on a thread of the checkpoint. Gives the snapshot up when it
 * ends, also if the checkpoint is canceled before it begins.
 */
final class IncrementalStateWriter extends AsyncSnapshotCallable<SnapshotResult<KeyedStateHandle>> {
  private final KeyedStates.Snapshot snapshot;
  private final PageIndex base;
  private final Target target;
  private final DeviceContext context;

  /**
   * Where a checkpoint is written to.
   *
   * @param writerId of the subtask's state, in all its checkpoints
   * @param written takes the index when all is written, on the checkpoint's thread
   */
  record Target(
      UUID writerId,
      long checkpointId,
      KeyGroupRange keyGroups,
      CheckpointStreamFactory streams,
      boolean isCompressed,
      Consumer<PageIndex> written) {}

  /**
   * Takes ownership of the snapshot and the context.
   *
   * @param base of a completed checkpoint of the same subtask, or {@link PageIndex#EMPTY}
   * @param context keeps the memory of the snapshot until it is closed
   */
  IncrementalStateWriter(
      KeyedStates.Snapshot snapshot, PageIndex base, Target target, DeviceContext context) {
    this.snapshot = snapshot;
    this.base = base;
    this.target = target;
    this.context = context;
  }

  @Override
  protected SnapshotResult<KeyedStateHandle> callInternal() throws Exception {
    CheckpointStreamFactory streams = target.streams;
    try (DeviceStream stream = context.device().createStream();
        PageWriter writer =
            new PageWriter(
                streams,
                PageWriter.FILE_BYTES,
                snapshotCloseableRegistry,
                new BlockWriter(stream, context.retry(), target.isCompressed))) {
      ReusedPages reused =
          ReusedPages.find(snapshot, base, streams::couldReuseStateHandle, stream, context.retry());
      List<TablePages> tables = writeTables(reused, writer);
      Map<UUID, StreamStateHandle> files = new LinkedHashMap<>(reused.files());
      Map<UUID, StreamStateHandle> added = writer.finish();
      files.putAll(added);
      PageIndex index = new PageIndex(files, tables);
      StreamStateHandle meta =
          writer.writeIndex(StateFormat.Header.of(UUID.randomUUID(), snapshot), index);
      long size =
          meta.getStateSize() + added.values().stream().mapToLong(StateObject::getStateSize).sum();
      streams.reusePreviousStateHandle(reused.files().values());
      KeyedStateHandle handle = handle(files, meta, size);
      target.written.accept(index);
      writer.keep();
      return SnapshotResult.of(handle);
    }
  }

  private List<TablePages> writeTables(ReusedPages reused, PageWriter writer) throws IOException {
    List<TablePages> tables = new ArrayList<>();
    for (StateSnapshot table : snapshot.tables()) {
      Page[] pages = reused.pages(tables.size());
      int pageRows = table.pageRows();
      for (int page = 0; page < pages.length; page++) {
        if (pages[page] == null) {
          long first = (long) page * pageRows;
          pages[page] = writer.write(table, first, Math.min(first + pageRows, table.rowCount()));
        }
      }
      tables.add(new TablePages(table.tableId(), table.epoch(), pageRows, List.of(pages)));
    }
    return tables;
  }

  private KeyedStateHandle handle(
      Map<UUID, StreamStateHandle> files, StreamStateHandle meta, long writtenBytes) {
    List<HandleAndLocalPath> shared = new ArrayList<>();
    files.forEach((id, file) -> shared.add(HandleAndLocalPath.of(file, id.toString())));
    return new IncrementalRemoteKeyedStateHandle(
        target.writerId,
        target.keyGroups,
        target.checkpointId,
        shared,
        List.of(),
        meta,
        writtenBytes);
  }

  @Override
  protected void cleanupProvidedResources() {
    FirstFailure failure = new FirstFailure();
    failure.run(snapshot::close);
    failure.run(context::close);
    failure.rethrow();
  }
}
