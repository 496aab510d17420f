// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.operators.state.PageIndex.Page;
import io.millrace.state.StateSnapshot;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;

/** Writes pages to new files that checkpoints share. Deletes the files, unless they are kept. */
final class PageWriter implements AutoCloseable {
  static final long FILE_BYTES = 64L << 20;

  private final CheckpointStreamFactory streams;
  private final long fileBytes;
  private final CloseableRegistry cancelables;
  private final BlockWriter blocks;
  private final Map<UUID, StreamStateHandle> files = new LinkedHashMap<>();
  private boolean areKept;
  // Of the file that is being written; null if there is none.
  private CheckpointStateOutputStream output;
  private UUID file;
  private long start;

  /**
   * @param fileBytes a file that has as many bytes gets no further page
   * @param cancelables closed when the checkpoint is canceled
   * @param blocks writes the rows
   */
  PageWriter(
      CheckpointStreamFactory streams,
      long fileBytes,
      CloseableRegistry cancelables,
      BlockWriter blocks) {
    this.streams = streams;
    this.fileBytes = fileBytes;
    this.cancelables = cancelables;
    this.blocks = blocks;
  }

  /** Writes the rows from {@code first} to before {@code end} of a table. */
  Page write(StateSnapshot table, long first, long end) throws IOException {
    if (output == null) {
      openFile();
    }
    long offset = output.getPos() - start;
    DataOutputStream target = new DataOutputStream(output);
    blocks.write(table, first, end, target);
    target.flush();
    Page page = new Page(file, offset, output.getPos() - start - offset);
    if (offset + page.bytes() >= fileBytes) {
      closeFile();
    }
    return page;
  }

  private void openFile() throws IOException {
    output = open(CheckpointedStateScope.SHARED);
    file = UUID.randomUUID();
    start = output.getPos();
    DataOutputStream target = new DataOutputStream(output);
    PageIndexFormat.writeFileHeader(file, target);
    target.flush();
  }

  private CheckpointStateOutputStream open(CheckpointedStateScope scope) throws IOException {
    CheckpointStateOutputStream opened = streams.createCheckpointStateOutputStream(scope);
    cancelables.registerCloseable(opened);
    return opened;
  }

  private void closeFile() throws IOException {
    files.put(file, closeAndGetHandle());
  }

  private StreamStateHandle closeAndGetHandle() throws IOException {
    CheckpointStateOutputStream closed = output;
    if (!cancelables.unregisterCloseable(closed)) {
      throw new IOException("the checkpoint was canceled");
    }
    StreamStateHandle handle = closed.closeAndGetHandle();
    output = null;
    return handle;
  }

  /** Ends the last file. Returns all files that were written, in their order. */
  Map<UUID, StreamStateHandle> finish() throws IOException {
    if (output != null) {
      closeFile();
    }
    return new LinkedHashMap<>(files);
  }

  /** Writes the index of a checkpoint to a file that is not shared, behind {@link #finish}. */
  StreamStateHandle writeIndex(StateFormat.Header header, PageIndex index) throws IOException {
    output = open(CheckpointedStateScope.EXCLUSIVE);
    PageIndexFormat.writeIndex(header, index, output);
    StreamStateHandle handle = closeAndGetHandle();
    files.put(header.id(), handle);
    return handle;
  }

  /** Keeps all files: they belong to a checkpoint now. */
  void keep() {
    areKept = true;
  }

  @Override
  public void close() {
    if (output != null) {
      cancelables.unregisterCloseable(output);
      IOUtils.closeQuietly(output);
    }
    if (!areKept) {
      files.values().forEach(StateUtil::discardStateObjectQuietly);
    }
  }
}
