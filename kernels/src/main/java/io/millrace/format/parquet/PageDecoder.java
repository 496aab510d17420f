// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.format.parquet.ParquetKernels.Pages;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Decodes the pages of a row group to columns. Used by one thread, for one row group. */
@PublicEvolving
public final class PageDecoder {
  private final RowGroupPages rowGroup;
  private final List<ColumnPages> columns;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final ParquetKernels kernels;
  private final int strings;

  private PageDecoder(RowGroupPages rowGroup, DeviceStream stream, MemoryResource memory) {
    this.rowGroup = rowGroup;
    this.columns = rowGroup.columns();
    this.stream = stream;
    this.memory = memory;
    this.kernels = ParquetKernels.KERNELS.of(stream.device());
    this.strings = (int) columns.stream().filter(pages -> pages.column().hasBytes()).count();
  }

  /**
   * Makes one attempt to decode all columns. Waits for the numbers of bytes of strings, and so for
   * the copies of the pages; what follows is enqueued.
   *
   * @param rowGroup stays the caller's, who may close it when this returns
   * @param stream orders the columns' memory
   * @param memory of the stream's device
   * @return a column for each of the row group, in the order in which they were added; the caller
   *     closes them
   * @throws IOException naming the column if there are fewer values than rows, a null in a column
   *     that is NOT NULL, a value that its dictionary lacks, or 2 GiB of strings or more in a
   *     column
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public static List<Column> decode(
      RowGroupPages rowGroup, DeviceStream stream, MemoryResource memory) throws IOException {
    rowGroup.checkComplete();
    return new PageDecoder(rowGroup, stream, memory).decode();
  }

  private List<Column> decode() throws IOException {
    try (AccessScope scope = AccessScope.on(stream);
        DecodedColumns decoded = new DecodedColumns(columns, rowGroup.rows(), stream, memory)) {
      if (rowGroup.rows() == 0) {
        clear(decoded, scope);
      } else if (!columns.isEmpty()) {
        decode(decoded, scope);
      }
      return decoded.take();
    }
  }

  private void clear(DecodedColumns decoded, AccessScope scope) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).column().hasBytes()) {
        stream.fill(decoded.second(i, scope), (byte) 0, Integer.BYTES);
        decoded.allocateBytes(i, 0, scope);
      }
    }
  }

  private void decode(DecodedColumns decoded, AccessScope scope) throws IOException {
    long resultBytes = ParquetKernels.resultBytes(columns.size(), strings);
    try (PagePlan plan = new PagePlan(rowGroup, strings, stream, memory);
        StagingBuffer result = stream.device().stagingPool().acquire(resultBytes)) {
      HostMemory.fill(result.address(), resultBytes, (byte) 0);
      Pages pages = plan.upload(decoded, result.address(), scope);
      kernels.decode(pages);
      checkCodes(pages);
      if (strings > 0) {
        long stringColumns = plan.uploadStrings(allocateStrings(decoded, pages, scope));
        kernels.copyStrings(pages, stringColumns, strings);
      }
    }
  }

  private void checkCodes(Pages pages) throws IOException {
    for (int i = 0; i < columns.size(); i++) {
      if (HostMemory.getInt(pages.badCode(i)) != 0) {
        throw RowGroupPages.unreadable(columns.get(i), ColumnPages.badCode());
      }
    }
  }

  private List<PagePlan.Strings> allocateStrings(
      DecodedColumns decoded, Pages pages, AccessScope scope) throws IOException {
    List<PagePlan.Strings> places = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).column().hasBytes()) {
        long bytes = HostMemory.getLong(pages.total(places.size()));
        if (bytes > Integer.MAX_VALUE) {
          throw RowGroupPages.unreadable(
              columns.get(i), new IOException("a row group has " + bytes + " bytes of its values"));
        }
        long target = decoded.allocateBytes(i, bytes, scope);
        places.add(
            new PagePlan.Strings(decoded.values(i, scope), decoded.second(i, scope), target));
      }
    }
    return places;
  }
}
