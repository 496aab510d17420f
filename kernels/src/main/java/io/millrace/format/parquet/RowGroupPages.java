// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The decompressed pages of columns of a row group, in host memory, from which {@link PageDecoder}
 * decodes them. Used by one thread; closed once.
 */
@PublicEvolving
public final class RowGroupPages implements AutoCloseable {
  private final int rows;
  private final Buffer buffer;
  private final AccessScope scope;
  private final PageBytes bytes;
  private final IntegerList words = new IntegerList();
  private final List<ColumnPages> columns = new ArrayList<>();

  /**
   * Makes one attempt to get room for the pages.
   *
   * @param rows of the row group
   * @param pages at most as many data pages and dictionaries will be added
   * @param bytes of all of them together, without compression
   * @param stream a host stream, which orders the memory
   * @param memory host memory, which a GPU copies fastest if it is pinned
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public RowGroupPages(
      int rows, int pages, long bytes, DeviceStream stream, MemoryResource memory) {
    this.rows = rows;
    long capacity = PageBytes.capacity(bytes, pages);
    this.buffer = Buffer.allocate(capacity, stream, memory);
    this.scope = AccessScope.on(stream);
    try {
      this.bytes = new PageBytes(buffer.access(AccessMode.WRITE, scope), capacity);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /** Begins the next column, whose pages are added to the result before another column begins. */
  public ColumnPages add(FlatColumn column) {
    ColumnPages pages = new ColumnPages(column, bytes, words, rows);
    columns.add(pages);
    return pages;
  }

  int rows() {
    return rows;
  }

  /** The bytes of all pages, to which nothing is added any more. */
  Buffer bytes() {
    scope.close();
    return buffer;
  }

  IntegerList words() {
    return words;
  }

  List<ColumnPages> columns() {
    return columns;
  }

  void checkComplete() throws IOException {
    for (ColumnPages pages : columns) {
      try {
        pages.checkComplete();
      } catch (IOException e) {
        throw unreadable(pages, e);
      }
    }
  }

  /** What is thrown if the pages of a column are corrupt. */
  static IOException unreadable(ColumnPages pages, IOException reason) {
    String name = pages.column().field().name();
    return new IOException("column '" + name + "' cannot be read: " + reason.getMessage(), reason);
  }

  @Override
  public void close() {
    scope.close();
    buffer.close();
  }
}
