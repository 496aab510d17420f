package io.millrace.operators.batch;

import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TableConcatenation;
import io.millrace.device.DeviceKind;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.annotation.Internal;

/**
 * Moves tables between an operator's device and pinned host memory; where the host is the device,
 * nothing is copied. Used by one thread.
 */
@Internal
public final class HostTransfer implements AutoCloseable {
  private final DeviceContext context;
  private Table uploading;

  public HostTransfer(DeviceContext context) {
    this.context = context;
  }

  /** A builder of tables in the host memory that {@link #toDevice} copies from fastest. */
  public RowTableBuilder tableBuilder(Schema schema) {
    return isHost()
        ? new RowTableBuilder(schema, context.stream(), context.resource())
        : new RowTableBuilder(schema, context.hostStream(), context.pinnedResource());
  }

  /**
   * One attempt: {@code table}, which stays the caller's, in host memory. The copy is enqueued;
   * readers of the result wait for it. The caller closes the result.
   */
  public Table toHost(Table table) {
    return isHost()
        ? table.share()
        : table.copyTo(context.pinnedResource(), context.hostStream(), context.stream());
  }

  /**
   * Hands on the table in the device's memory, in as many tables as fit one after the other; see
   * {@link io.millrace.memory.GpuRetry#withSplitAndRetry}.
   *
   * @param table in host memory; this takes ownership, also if it fails
   * @param consumer takes ownership of each table
   */
  public void toDevice(Table table, Consumer<Table> consumer) {
    if (isHost()) {
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

  /** A part of a table with no more memory than its rows need. */
  private Table compact(Table part) {
    return TableConcatenation.concatenate(
        part.schema(), List.of(part), context.hostStream(), context.pinnedResource());
  }

  /**
   * One attempt: the table in the device's memory; the caller owns it. The copy is enqueued on the
   * chain's stream, and the host memory is kept until the next call, so that nothing waits for it.
   *
   * @param table in host memory; this takes ownership, also if it fails
   */
  public Table upload(Table table) {
    if (isHost()) {
      return table;
    }
    try {
      close();
      Table uploaded = table.copyTo(context.resource(), context.stream(), context.stream());
      uploading = table;
      return uploaded;
    } catch (RuntimeException | Error e) {
      table.close();
      throw e;
    }
  }

  private boolean isHost() {
    return context.device().kind() == DeviceKind.HOST;
  }

  /** Waits for the last copy to the device and frees its source. */
  @Override
  public void close() {
    Table uploaded = uploading;
    uploading = null;
    if (uploaded != null) {
      uploaded.close();
    }
  }
}
