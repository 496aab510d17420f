// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.lookup;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.testing.TableBuilder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** A dimension table whose rows are a list of the test, which can change, fail and hang. */
record ListDimension(String name, RefreshOptions refresh) implements DimensionTable {
  private static final long serialVersionUID = 1L;

  static final Schema SCHEMA =
      Schema.of(
          Field.of("label", DataType.STRING),
          new Field("id", DataType.INT64, false),
          new Field("price", DataType.INT32, false));

  private static final Map<String, Contents> CONTENTS = new ConcurrentHashMap<>();

  /** The rows of the table with a name. */
  static final class Contents {
    private List<List<Object>> rows = List.of();
    private Exception failure;
    private boolean isHanging;
    private int reads;

    synchronized void set(List<List<Object>> newRows) {
      rows = newRows;
      failure = null;
    }

    synchronized void fail(Exception e) {
      failure = e;
    }

    synchronized void hang() {
      isHanging = true;
    }

    synchronized int reads() {
      return reads;
    }

    /** Waits until a read that began behind this call has ended. */
    synchronized void awaitRead() throws InterruptedException {
      awaitReads(reads + 2);
    }

    synchronized void awaitReads(int count) throws InterruptedException {
      while (reads < count) {
        wait();
      }
    }

    private synchronized List<List<Object>> read() throws Exception {
      reads++;
      notifyAll();
      while (isHanging) {
        wait();
      }
      if (failure != null) {
        throw failure;
      }
      return rows;
    }

    private synchronized void cancel() {
      if (isHanging) {
        isHanging = false;
        failure = new CancellationException("canceled");
        notifyAll();
      }
    }
  }

  Contents contents() {
    return CONTENTS.computeIfAbsent(name, key -> new Contents());
  }

  @Override
  public Schema schema() {
    return SCHEMA;
  }

  @Override
  public List<String> keys() {
    return List.of("id");
  }

  @Override
  public DimensionReader open(DeviceContext context) {
    return new Reader(contents(), new HostTransfer(context), context);
  }

  private record Reader(Contents contents, HostTransfer transfer, DeviceContext context)
      implements DimensionReader {
    @Override
    public void read(Consumer<Table> parts) throws Exception {
      List<List<Object>> rows = contents.read();
      for (int first = 0; first < rows.size(); first += 2) {
        List<List<Object>> part = rows.subList(first, Math.min(rows.size(), first + 2));
        Table host =
            context
                .retry()
                .withHostRetry(
                    () ->
                        TableBuilder.ofRows(SCHEMA, part)
                            .buildOnHost(context.hostStream(), context.pinnedResource()));
        transfer.toDevice(host, parts);
      }
    }

    @Override
    public void cancel() {
      contents.cancel();
    }

    @Override
    public void close() {
      transfer.close();
    }
  }
}
