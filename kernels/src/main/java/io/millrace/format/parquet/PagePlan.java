// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.StagingBuffer;
import io.millrace.format.parquet.PageStructures.Column;
import io.millrace.format.parquet.PageStructures.Page;
import io.millrace.format.parquet.PageStructures.StringColumn;
import io.millrace.format.parquet.ParquetKernels.Pages;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.List;

/**
 * What the kernels are told of pages, in memory of the device beside the pages themselves. A host
 * reads both where they are. Used by one thread; closed once.
 */
final class PagePlan implements AutoCloseable {
  /** Where the byte arrays of a column are found and go; an address is 0 if there are no bytes. */
  record Strings(long positions, long offsets, long target) {}

  private final RowGroupPages rowGroup;
  private final int strings;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final ParquetKernels kernels;

  // Bytes from the beginning of the plan.
  private final long pagesStart;
  private final long columnsStart;
  private final long stringsStart;
  private final long end;

  private StagingBuffer staged;
  // null on the host.
  private Buffer copiedPages;
  private Buffer copiedPlan;
  // Where kernels find the plan; set by upload.
  private long plan;

  /**
   * @param strings how many columns have byte arrays
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  PagePlan(RowGroupPages rowGroup, int strings, DeviceStream stream, MemoryResource memory) {
    this.rowGroup = rowGroup;
    this.strings = strings;
    this.stream = stream;
    this.memory = memory;
    this.kernels = ParquetKernels.KERNELS.of(stream.device());
    long words = (rowGroup.words().size() + 1L) / 2 * Long.BYTES;
    long pages = rowGroup.columns().stream().mapToLong(column -> column.pages().size()).sum();
    this.pagesStart = words;
    this.columnsStart = pagesStart + pages * Page.LAYOUT.bytes();
    this.stringsStart = columnsStart + (long) rowGroup.columns().size() * Column.LAYOUT.bytes();
    this.end = stringsStart + (long) strings * StringColumn.LAYOUT.bytes();
    try {
      allocate();
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void allocate() {
    staged = stream.device().stagingPool().acquire(end);
    if (!stream.device().isHostAccessible()) {
      long scratch = kernels.scratchBytes(rowGroup.rows(), strings);
      copiedPlan = Buffer.allocate(end + scratch, stream, memory);
      copiedPages = rowGroup.bytes().copyTo(memory, stream, stream);
    }
  }

  /**
   * Writes the plan, and copies it to the device. Enqueued; the work with it may use the addresses
   * as long as {@code scope} is open.
   *
   * @param result of {@link ParquetKernels#resultBytes}
   */
  Pages upload(DecodedColumns decoded, long result, AccessScope scope) {
    rowGroup.words().copyTo(staged.address());
    long page = staged.address() + pagesStart;
    int firstPage = 0;
    int string = 0;
    for (int i = 0; i < rowGroup.columns().size(); i++) {
      ColumnPages pages = rowGroup.columns().get(i);
      FlatColumn column = pages.column();
      long address = staged.address() + columnsStart + (long) i * Column.LAYOUT.bytes();
      PageStructures.put(address, Column.VALUES, decoded.values(i, scope));
      PageStructures.put(address, Column.SECOND, decoded.second(i, scope));
      PageStructures.put(address, Column.VALIDITY, decoded.validity(i, scope));
      PageStructures.put(address, Column.PAGE, firstPage);
      PageStructures.put(address, Column.PAGE_COUNT, pages.pages().size());
      PageStructures.put(address, Column.TYPE, column.type().number());
      PageStructures.put(address, Column.WIDTH, column.width());
      PageStructures.put(address, Column.IS_UNSIGNED, column.isUnsigned() ? 1 : 0);
      PageStructures.put(address, Column.STRING, column.hasBytes() ? string++ : -1);
      for (ColumnPages.Page described : pages.pages()) {
        write(described, page);
        page += Page.LAYOUT.bytes();
      }
      firstPage += pages.pages().size();
    }
    boolean isHost = copiedPlan == null;
    plan = isHost ? staged.address() : copiedPlan.access(AccessMode.WRITE, scope);
    if (!isHost) {
      stream.copy(plan, staged.address(), stringsStart);
    }
    Buffer bytes = isHost ? rowGroup.bytes() : copiedPages;
    return new Pages(
        bytes.access(AccessMode.READ, scope),
        plan,
        plan + pagesStart,
        plan + columnsStart,
        plan + end,
        result,
        rowGroup.rows(),
        rowGroup.columns().size(),
        strings,
        stream);
  }

  private static void write(ColumnPages.Page page, long address) {
    PageStructures.put(address, Page.LEVELS, page.levels());
    PageStructures.put(address, Page.VALUES, page.values());
    PageStructures.put(address, Page.DICTIONARY, page.dictionary());
    PageStructures.put(address, Page.FIRST_ROW, page.firstRow());
    PageStructures.put(address, Page.ENCODING, page.encoding().number());
    PageStructures.put(address, Page.LEVEL_RUN, page.levelRun());
    PageStructures.put(address, Page.LEVEL_RUN_COUNT, page.levelRunCount());
    PageStructures.put(address, Page.CODE_RUN, page.codeRun());
    PageStructures.put(address, Page.CODE_RUN_COUNT, page.codeRunCount());
    PageStructures.put(address, Page.BIT_WIDTH, page.bitWidth());
    PageStructures.put(address, Page.DICTIONARY_SIZE, page.dictionarySize());
    PageStructures.put(address, Page.DICTIONARY_START, page.dictionaryStart());
    PageStructures.put(address, Page.RESERVED, 0);
  }

  /** Copies the places of byte arrays, after {@link #upload}. Enqueued; gives their address. */
  long uploadStrings(List<Strings> places) {
    for (int i = 0; i < places.size(); i++) {
      Strings column = places.get(i);
      long address = staged.address() + stringsStart + (long) i * StringColumn.LAYOUT.bytes();
      PageStructures.put(address, StringColumn.POSITIONS, column.positions());
      PageStructures.put(address, StringColumn.OFFSETS, column.offsets());
      PageStructures.put(address, StringColumn.TARGET, column.target());
    }
    if (copiedPlan != null) {
      stream.copy(plan + stringsStart, staged.address() + stringsStart, end - stringsStart);
    }
    return plan + stringsStart;
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    if (copiedPages != null) {
      failure.run(copiedPages::close);
    }
    if (copiedPlan != null) {
      failure.run(copiedPlan::close);
    }
    if (staged != null) {
      failure.run(this::closeStaged);
    }
    failure.rethrow();
  }

  // Copies from it may be enqueued.
  private void closeStaged() {
    try (DeviceEvent event = stream.recordEvent()) {
      staged.closeAfter(event);
    }
  }
}
