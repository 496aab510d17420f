// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TableConcatenation;
import io.millrace.device.DeviceEvent;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.EventTimes;
import io.millrace.operators.context.DeviceContext;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.annotation.Internal;

/**
 * Moves tables between an operator's device and pinned host memory; on the host device nothing is
 * copied. Copies run on streams of their own, beside the work of the chain's stream: an upload
 * beside the work on the table before. Used by one thread.
 */
@Internal
public final class HostTransfer implements AutoCloseable {
  // The current copy, and the table before it, which the chain processes.
  private static final int UPLOADS_HELD = 2;

  private final DeviceContext context;
  private final Deque<Upload> uploads = new ArrayDeque<>();

  /**
   * A table that was uploaded. Memory is freed in the order of the upload stream, so that it would
   * wait for the work on the table if that were freed at once; this holds the table until then.
   */
  private static final class Upload {
    private final Table host;
    private final Table device;
    private DeviceEvent workDone;

    private Upload(Table host, Table device) {
      this.host = host;
      this.device = device;
    }

    private boolean isWorkDone() {
      return workDone != null && workDone.isReached();
    }

    private void close(FirstFailure failure) {
      failure.run(host::close);
      failure.run(device::close);
      if (workDone != null) {
        failure.run(workDone::close);
      }
    }
  }

  public HostTransfer(DeviceContext context) {
    this.context = context;
  }

  /** A builder of tables in the host memory that {@link #toDevice} copies from fastest. */
  public RowTableBuilder tableBuilder(Schema schema) {
    return context.device().isHostAccessible()
        ? new RowTableBuilder(schema, context.stream(), context.resource())
        : new RowTableBuilder(schema, context.hostStream(), context.pinnedResource());
  }

  /** The event times of the rows of such a table, in the same memory. */
  public EventTimes eventTimes() {
    return context.device().isHostAccessible()
        ? new EventTimes(context.stream(), context.resource())
        : new EventTimes(context.hostStream(), context.pinnedResource());
  }

  /**
   * Makes one attempt to copy {@code table}, which stays the caller's, to host memory. The copy is
   * enqueued; readers of the result wait for it. The caller closes the result.
   */
  public Table toHost(Table table) {
    return context.device().isHostAccessible()
        ? table.share()
        : table.copyTo(context.pinnedResource(), context.hostStream(), context.downloadStream());
  }

  /** Like {@link #toHost}, with an event that is reached when the copy is done. */
  public Download download(Table table) {
    Table host = toHost(table);
    try {
      return new Download(host, context.downloadStream().recordEvent());
    } catch (RuntimeException | Error e) {
      host.close();
      throw e;
    }
  }

  /**
   * Hands on the table in the device's memory, in as many tables as fit one after the other; see
   * {@link io.millrace.memory.retry.GpuRetry#withSplitAndRetry}.
   *
   * @param table in host memory; this takes ownership, also if it fails
   * @param consumer takes ownership of each table
   */
  public void toDevice(Table table, Consumer<Table> consumer) {
    if (context.device().isHostAccessible()) {
      consumer.accept(table);
      return;
    }
    try (table) {
      context
          .retry()
          .withSplitAndRetry(
              table, part -> upload(part == table ? part.share() : compact(part)), consumer);
    }
  }

  /** A copy of a part of a table, with only the memory that its rows need. */
  private Table compact(Table part) {
    return TableConcatenation.concatenate(
        part.schema(), List.of(part), context.hostStream(), context.pinnedResource());
  }

  /**
   * Makes one attempt to copy the table to the device's memory; the caller owns the result. The
   * copy is enqueued on the upload stream. Both tables' memory is kept until a later call or {@link
   * #close}, so that neither this nor the next copy waits for the chain.
   *
   * @param table in host memory; this takes ownership, also if it fails
   */
  public Table upload(Table table) {
    if (context.device().isHostAccessible()) {
      return table;
    }
    Table uploaded = null;
    try {
      endUploads();
      uploaded = table.copyTo(context.resource(), context.uploadStream(), context.uploadStream());
      uploads.add(new Upload(table, uploaded.share()));
      return uploaded;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      failure.run(table::close);
      if (uploaded != null) {
        failure.run(uploaded::close);
      }
      throw e;
    }
  }

  // The work on the last table has been enqueued by now.
  private void endUploads() {
    Upload last = uploads.peekLast();
    if (last != null && last.workDone == null) {
      last.workDone = context.stream().recordEvent();
    }
    FirstFailure failure = new FirstFailure();
    while (uploads.size() >= UPLOADS_HELD || (!uploads.isEmpty() && uploads.peek().isWorkDone())) {
      uploads.remove().close(failure);
    }
    failure.rethrow();
  }

  /** Waits for the copies to the device and frees their sources. */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    uploads.forEach(upload -> upload.close(failure));
    uploads.clear();
    failure.rethrow();
  }
}
