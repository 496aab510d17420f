// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.Device;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.BlockReader.Encoding;
import io.millrace.operators.state.PageIndex.Page;
import io.millrace.operators.state.PageIndex.TablePages;
import io.millrace.operators.state.PageIndexFormat.Index;
import io.millrace.operators.state.StateFormat.TableRows;
import io.millrace.operators.state.StateFormat.VersionedHeader;
import io.millrace.state.StateBlock;
import io.millrace.state.StateTable;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the states of a checkpoint into those of a subtask. States that the subtask has not are
 * left out.
 */
final class StateReader {
  private static final Logger LOG = LoggerFactory.getLogger(StateReader.class);

  private final KeyedStates states;
  private final KeyGroupFilter filter;
  private final UpdateTime time;
  private final Device device;
  private final GpuRetry retry;
  private final CloseableRegistry cancelables;

  /**
   * @param filter of the rows that belong to the subtask
   * @param time of the restore: rows that have expired are left out, and rows of unknown age are as
   *     if they were updated now
   * @param cancelables closed when the task is canceled
   */
  StateReader(
      KeyedStates states,
      KeyGroupFilter filter,
      UpdateTime time,
      DeviceContext context,
      CloseableRegistry cancelables) {
    this.states = states;
    this.filter = filter;
    this.time = time;
    this.device = context.device();
    this.retry = context.retry();
    this.cancelables = cancelables;
  }

  /**
   * Adds the rows of the subtask's key groups to its states.
   *
   * @throws IOException if the state is damaged, does not fit the states, or cannot be read
   */
  void read(KeyedStateHandle state) throws IOException {
    if (state instanceof KeyGroupsStateHandle rows) {
      readRows(rows);
    } else if (state instanceof IncrementalRemoteKeyedStateHandle pages) {
      readPages(pages);
    } else {
      throw new IOException(
          "expected keyed state of a checkpoint of this operator, got " + state.getClass());
    }
  }

  // The rows of all key groups are one sequence: each key group's offset is its beginning.
  private void readRows(KeyGroupsStateHandle state) throws IOException {
    int keyGroup = state.getKeyGroupRange().getStartKeyGroup();
    try (Source source = new Source(state.getDelegateStateHandle())) {
      source.stream.seek(state.getOffsetForKeyGroup(keyGroup));
      VersionedHeader header = StateFormat.readHeader(source.stream);
      for (StateFormat.State part : header.header().states()) {
        Rows rows = new Rows(part);
        StateFormat.readBlocks(
            part, StateFormat.encoding(header.version()), rows.blocks, source.stream, rows::add);
        rows.warnIfLeftOut();
      }
    }
  }

  private void readPages(IncrementalRemoteKeyedStateHandle state) throws IOException {
    Map<UUID, StreamStateHandle> files = new HashMap<>();
    for (HandleAndLocalPath file : state.getSharedState()) {
      files.put(fileId(file.getLocalPath()), file.getHandle());
    }
    Index index;
    try (Source source = new Source(state.getMetaDataStateHandle())) {
      index = PageIndexFormat.readIndex(source.stream, files);
    }
    Iterator<TablePages> tables = index.pages().tables().iterator();
    try (PageFiles pages = new PageFiles(files)) {
      for (StateFormat.State part : index.header().states()) {
        Rows rows = new Rows(part);
        for (TableRows table : part.tables()) {
          readTable(table, tables.next(), pages, rows);
        }
        rows.warnIfLeftOut();
      }
    }
  }

  private static UUID fileId(String localPath) throws IOException {
    try {
      return UUID.fromString(localPath);
    } catch (IllegalArgumentException e) {
      throw new IOException(
          "expected keyed state of a checkpoint of this operator, got the file " + localPath, e);
    }
  }

  private static void readTable(TableRows table, TablePages pages, PageFiles files, Rows rows)
      throws IOException {
    long row = 0;
    for (Page page : pages.pages()) {
      PageFile file = files.open(page.file());
      file.source.stream.seek(page.offset());
      long count = Math.min(pages.pageRows(), table.rowCount() - row);
      TableRows part = new TableRows(table.namespace(), count);
      try {
        rows.blocks.read(part, file.encoding, new DataInputStream(file.source.stream), rows::add);
      } catch (EOFException e) {
        throw new IOException(
            "keyed state is damaged: its file " + page.file() + " ends within a page", e);
      }
      row += count;
    }
  }

  private record PageFile(Source source, Encoding encoding) {}

  /** The files of pages that have been opened. */
  private final class PageFiles implements AutoCloseable {
    private final Map<UUID, StreamStateHandle> handles;
    private final Map<UUID, PageFile> opened = new HashMap<>();

    PageFiles(Map<UUID, StreamStateHandle> handles) {
      this.handles = handles;
    }

    PageFile open(UUID id) throws IOException {
      PageFile file = opened.get(id);
      if (file == null) {
        Source source = new Source(handles.get(id));
        try {
          file = new PageFile(source, PageIndexFormat.readFileHeader(id, source.stream));
        } catch (IOException | RuntimeException | Error e) {
          IOUtils.closeQuietly(source);
          throw e;
        }
        opened.put(id, file);
      }
      return file;
    }

    @Override
    public void close() {
      opened.values().forEach(file -> IOUtils.closeQuietly(file.source));
    }
  }

  /** A stream that is closed when the task is canceled. */
  private final class Source implements AutoCloseable {
    final FSDataInputStream stream;

    Source(StreamStateHandle handle) throws IOException {
      try {
        stream = handle.openInputStream();
      } catch (IOException e) {
        throw new IOException("keyed state cannot be read from " + handle, e);
      }
      cancelables.registerCloseable(stream);
    }

    @Override
    public void close() throws IOException {
      if (cancelables.unregisterCloseable(stream)) {
        stream.close();
      }
    }
  }

  /** Adds rows with the layout of a checkpoint to the tables of a state. */
  private final class Rows {
    final BlockReader blocks;
    private final String name;
    // null if the subtask does not have the state.
    private final StateTables tables;
    private final int[] positions;
    private final List<StateFormat.Widening> widenings;
    private final Expiry expiry;
    private long leftOut;

    Rows(StateFormat.State state) throws IOException {
      blocks = new BlockReader(state.layout(), device, retry);
      name = state.name();
      tables = states.all().get(name);
      if (tables == null) {
        positions = new int[0];
        widenings = List.of();
        expiry = Expiry.NEVER;
      } else {
        StateSchema schema = tables.schema();
        positions = state.positions(schema);
        widenings = state.widenings(schema, positions);
        expiry = schema.hasTime() ? schema.expiryBefore(time.oldest()) : Expiry.NEVER;
      }
    }

    void add(long namespace, StateBlock block) {
      int rows = retry.withHostRetry(() -> filter.apply(block)).rowCount();
      if (tables == null) {
        leftOut += rows;
      } else if (rows > 0) {
        addOwn(namespace, block);
      }
    }

    private void addOwn(long namespace, StateBlock block) {
      StateSchema schema = tables.schema();
      boolean expires = schema.hasTime() && namespace == StateTables.ONLY;
      UpdateTime unknown = expires ? time : StateTables.STAYS;
      try (StateBlock own =
          retry.withHostRetry(
              () ->
                  block.withAccumulators(schema, positions, expiry.word(unknown.now()), device))) {
        widenings.forEach(value -> own.widen(value.word(), value.bytes(), value.widerBytes()));
        if (expires) {
          tables.countExpired(own.removeExpired(expiry));
        }
        retry.withRetry(() -> merge(namespace, own));
      }
    }

    void warnIfLeftOut() {
      if (leftOut > 0) {
        LOG.warn(
            "state '{}' of the checkpoint is left out, with {} rows: the operator has no state of"
                + " this name any more",
            name,
            leftOut);
      }
    }

    private StateTable merge(long namespace, StateBlock block) {
      StateTable table = tables.forUpdate(namespace);
      table.merge(block);
      return table;
    }
  }
}
