// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.device.StagingRequests;
import io.millrace.format.parquet.PageWriter.Written;
import io.millrace.format.parquet.RandomPages.Chunk;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RowCountTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages that are written by hand are decoded to the values that were written. */
class PageDecoderTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final AtomicInteger requests = new AtomicInteger();
  private RandomPages pages;
  private int refused;

  @BeforeEach
  void open() {
    pages = new RandomPages(random.random());
  }

  @AfterEach
  void refuseNoMore() {
    StagingRequests.ignore(device.device().stagingPool());
  }

  private static List<List<Object>> emptyRows(int count) {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(new ArrayList<>());
    }
    return rows;
  }

  private void assertDecoded(int rowCount, double nulls, int dictionarySize, int maxPageRows) {
    List<List<Object>> rows = emptyRows(rowCount);
    List<Chunk> chunks =
        RandomPages.COLUMNS.stream()
            .map(column -> pages.chunk(column, rows, nulls, dictionarySize, maxPageRows))
            .toList();
    try (Table table = decode(rowCount, chunks)) {
      assertThat(device.rows(table)).isEqualTo(rows);
      for (int i = 0; i < chunks.size(); i++) {
        int column = i;
        long nullCount = rows.stream().filter(row -> row.get(column) == null).count();
        assertThat(table.column(i).isNullCountKnown()).isTrue();
        assertThat(table.column(i).nullCount(device.stream())).isEqualTo((int) nullCount);
        assertThat(table.column(i).isNullable()).isEqualTo(nullCount > 0);
      }
    }
  }

  private Table decode(int rows, List<Chunk> chunks) {
    return device.assertLaunches(
        rows == 0 ? 0 : 1,
        () -> {
          try {
            return RandomPages.decode(device, rows, chunks);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0.3, 10, 100",
    "1, 0.5, 1, 1",
    "1000, 0.2, 0, 1",
    "3000, 0, 0, 5000",
    "3000, 0.1, 1, 500",
    "3000, 0.5, 2, 700",
    "3000, 0.9, 100, 3000",
    "3000, 1, 100, 1000",
    "2000, 0.3, 3000, 2000"
  })
  void allTypesAreDecoded(int rows, double nulls, int dictionarySize, int maxPageRows) {
    assertDecoded(rows, nulls, dictionarySize, maxPageRows);
  }

  @RowCountTest
  void anyNumberOfRowsIsDecoded(int rowCount) {
    List<List<Object>> rows = emptyRows(rowCount);
    List<Chunk> chunks = new ArrayList<>();
    for (DataType type : List.of(DataType.INT64, DataType.STRING)) {
      PhysicalType physical =
          type.equals(DataType.INT64) ? PhysicalType.INT64 : PhysicalType.BYTE_ARRAY;
      for (int dictionarySize : List.of(0, 50)) {
        FlatColumn column = optional(type + " " + dictionarySize, type, physical);
        chunks.add(pages.chunk(column, rows, 0.3, dictionarySize, 20_000));
      }
    }
    try (Table table = decode(rowCount, chunks)) {
      assertThat(device.rows(table)).isEqualTo(rows);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 17, 255, 256, 257, 65_536, 1_100_000})
  void dictionariesOfAnySizeAreDecoded(int size) {
    FlatColumn column = optional("x", DataType.INT32, PhysicalType.INT32);
    List<Integer> dictionary = IntStream.range(0, size).map(i -> i * 7 - 100).boxed().toList();
    int[] codes = random.random().ints(300, 0, size).toArray();
    codes[random.random().nextInt(300)] = size - 1;
    List<Integer> values = new ArrayList<>();
    for (int code : codes) {
      values.add(dictionary.get(code));
      values.add(null);
    }
    for (int spareBits : List.of(0, 3, Integer.SIZE - PageWriter.bitWidth(size))) {
      int bitWidth = PageWriter.bitWidth(size) + spareBits;
      Written page =
          new PageWriter(random.random())
              .page(column, values, spareBits > 0, false, codes, bitWidth);
      Chunk chunk = new Chunk(column, dictionary, List.of(page));
      try (Table table = decode(values.size(), List.of(chunk))) {
        assertThat(device.rows(table).stream().map(row -> row.get(0)).toList()).isEqualTo(values);
      }
    }
  }

  private static FlatColumn optional(String name, DataType type, PhysicalType physical) {
    return new FlatColumn(Field.of(name, type), physical, false, true);
  }

  @Test
  void eachRefusalOfMemoryLeavesNothing() throws Exception {
    List<List<Object>> rows = emptyRows(100);
    List<Chunk> chunks =
        RandomPages.COLUMNS.stream().map(column -> pages.chunk(column, rows, 0.5, 10, 30)).toList();
    StagingRequests.listen(device.device().stagingPool(), bytes -> refuse());
    MemoryResource memory = new FailingResourceAdaptor(device.memory(), (n, bytes) -> isRefused());
    MemoryResource hostMemory =
        new FailingResourceAdaptor(device.hostMemory(), (n, bytes) -> isRefused());
    RandomPages.decode(device, 100, chunks, hostMemory, memory).close();
    int all = requests.get();
    assertThat(all).isGreaterThan(chunks.size());
    for (int number = 1; number <= all; number++) {
      requests.set(0);
      refused = number;
      assertThatThrownBy(() -> RandomPages.decode(device, 100, chunks, hostMemory, memory))
          .as("request %s", number)
          .isInstanceOf(GpuOutOfMemoryException.class);
      device.stream().synchronize();
      device.assertNothingHeld();
    }
    refused = 0;
    try (Table table = RandomPages.decode(device, 100, chunks, hostMemory, memory)) {
      assertThat(device.rows(table)).isEqualTo(rows);
    }
  }

  private boolean isRefused() {
    return requests.incrementAndGet() == refused;
  }

  private void refuse() {
    if (isRefused()) {
      throw new GpuOutOfMemoryException("no staging memory");
    }
  }

  @Test
  void structuresAreThoseOfTheSources() {
    CudaStructures cuda = CudaStructures.ofSources();
    for (KernelStructure structure :
        List.of(
            PageStructures.Page.LAYOUT,
            PageStructures.Column.LAYOUT,
            PageStructures.StringColumn.LAYOUT,
            CudaParquetKernels.Arguments.LAYOUT,
            CudaParquetKernels.StringsArguments.LAYOUT)) {
      assertThat(structure.fields()).isEqualTo(cuda.layout(structure.name()).fields());
    }
  }

  @Test
  void argumentsHaveTheSizesOfTheModule() {
    if (device.isCuda()) {
      KernelModule module = device.device().loadModule("parquet");
      for (KernelStructure structure :
          List.of(
              CudaParquetKernels.Arguments.LAYOUT, CudaParquetKernels.StringsArguments.LAYOUT)) {
        assertThat(module.constant("sizeof_" + structure.name())).isEqualTo(structure.bytes());
      }
    }
  }
}
