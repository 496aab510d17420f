// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.format.parquet.PageWriter.Written;
import io.millrace.format.parquet.RandomPages.Chunk;
import io.millrace.memory.MemoryResource;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pages that no writer writes are refused, or give values that depend on these pages alone. */
class HostilePagesTest {
  private static final int ROWS = 40;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private int refusedPages;
  private int decodedPages;

  /** Memory with a byte in each place, so that what is read beside pages shows. */
  private record FilledMemory(MemoryResource upstream, byte fill) implements MemoryResource {
    @Override
    public Device device() {
      return upstream.device();
    }

    @Override
    public long allocate(long bytes, DeviceStream stream) {
      long address = upstream.allocate(bytes, stream);
      if (bytes > 0) {
        stream.fill(address, fill, bytes);
      }
      return address;
    }

    @Override
    public void free(long address, long bytes, DeviceStream stream) {
      upstream.free(address, bytes, stream);
    }
  }

  private static FlatColumn column(PhysicalType type, DataType of, boolean isOptional) {
    return new FlatColumn(
        new Field(type + " " + isOptional, of, isOptional), type, false, isOptional);
  }

  private static List<FlatColumn> columns() {
    return Stream.of(true, false)
        .flatMap(
            isOptional ->
                Stream.of(
                    column(PhysicalType.BOOLEAN, DataType.BOOL, isOptional),
                    column(PhysicalType.INT32, DataType.INT32, isOptional),
                    column(PhysicalType.INT64, DataType.timestamp(9), isOptional),
                    column(PhysicalType.BYTE_ARRAY, DataType.BINARY, isOptional)))
        .toList();
  }

  private static List<List<Object>> emptyRows() {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      rows.add(new ArrayList<>());
    }
    return rows;
  }

  // The rows, or the message of the refusal.
  private Object decoded(Chunk chunk, int fill) {
    try (Table table =
        RandomPages.decode(
            device,
            ROWS,
            List.of(chunk),
            new FilledMemory(device.hostMemory(), (byte) fill),
            new FilledMemory(device.memory(), (byte) fill))) {
      return device.rows(table);
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  private void assertRefusedOrDecoded(Chunk chunk, String description) {
    Object first = decoded(chunk, 0);
    assertThat(decoded(chunk, 0xff)).as(description).isEqualTo(first);
    if (first instanceof String message) {
      refusedPages++;
      assertThat(message).as(description).doesNotContain("null");
    } else {
      decodedPages++;
    }
  }

  private static Chunk with(Chunk chunk, int index, Written page) {
    List<Written> pages = new ArrayList<>(chunk.pages());
    pages.set(index, page);
    return new Chunk(chunk.column(), chunk.dictionary(), pages);
  }

  private void mutate(Chunk chunk) {
    for (int i = 0; i < chunk.pages().size(); i++) {
      Written page = chunk.pages().get(i);
      for (int at = 0; at < page.page().length; at++) {
        for (int changed :
            new int[] {0, 0x7f, 0x80, 0xff, page.page()[at] ^ 1, random.random().nextInt()}) {
          byte[] bytes = page.page().clone();
          bytes[at] = (byte) changed;
          assertRefusedOrDecoded(
              with(chunk, i, new Written(page.header(), bytes)),
              chunk.column() + ": byte " + at + " of page " + i + " is " + changed);
        }
        assertRefusedOrDecoded(
            with(chunk, i, new Written(page.header(), Arrays.copyOf(page.page(), at))),
            chunk.column() + ": page " + i + " ends at " + at);
      }
      mutateHeader(chunk, i);
    }
  }

  private void mutateHeader(Chunk chunk, int index) {
    Written page = chunk.pages().get(index);
    DataPage header = page.header();
    for (int changed :
        new int[] {-1, 0, 1, header.values() + 1, ROWS, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      for (ValueEncoding encoding : ValueEncoding.values()) {
        for (boolean isVersion2 : new boolean[] {false, true}) {
          List<DataPage> headers =
              List.of(
                  new DataPage(
                      changed,
                      encoding,
                      isVersion2,
                      header.repetitionBytes(),
                      header.definitionBytes()),
                  new DataPage(
                      header.values(), encoding, isVersion2, changed, header.definitionBytes()),
                  new DataPage(header.values(), encoding, isVersion2, 0, changed));
          for (DataPage other : headers) {
            assertRefusedOrDecoded(
                with(chunk, index, new Written(other, page.page())), other.toString());
          }
        }
      }
    }
  }

  @Test
  void eachChangedByteIsRefusedOrDecoded() {
    RandomPages pages = new RandomPages(random.random());
    for (FlatColumn column : columns()) {
      for (int dictionarySize : List.of(0, 1, 9)) {
        mutate(pages.chunk(column, emptyRows(), 0.4, dictionarySize, 30));
      }
    }
    assertThat(refusedPages).isGreaterThan(1000);
    assertThat(decodedPages).isGreaterThan(1000);
  }

  private void assertRefused(FlatColumn column, List<?> dictionary, Written page, String reason) {
    Chunk chunk = new Chunk(column, dictionary, List.of(page));
    assertThatThrownBy(() -> RandomPages.decode(device, ROWS, List.of(chunk)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(reason);
  }

  private static Written page(int values, ValueEncoding encoding, int... bytes) {
    byte[] page = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      page[i] = (byte) bytes[i];
    }
    return new Written(new DataPage(values, encoding, false, 0, 0), page);
  }

  @Test
  void refusalsSayWhy() {
    FlatColumn number = column(PhysicalType.INT32, DataType.INT32, false);
    FlatColumn optional = column(PhysicalType.INT32, DataType.INT32, true);
    FlatColumn bytes = column(PhysicalType.BYTE_ARRAY, DataType.BINARY, false);
    List<Integer> dictionary = List.of(5, 6, 7);
    assertRefused(
        number,
        null,
        page(ROWS, ValueEncoding.PLAIN, new int[4 * ROWS - 1]),
        "expected 160 bytes of values in a page, got 159");
    assertRefused(
        number,
        null,
        page(ROWS - 1, ValueEncoding.PLAIN, new int[4 * ROWS]),
        "column 'INT32 false' cannot be read: the column chunk has fewer values than its row group");
    assertRefused(
        number,
        null,
        page(ROWS + 1, ValueEncoding.PLAIN, new int[4 * ROWS + 4]),
        "a page has 41 values behind 0 rows of a row group of 40");
    assertRefused(
        number,
        null,
        page(ROWS, ValueEncoding.DICTIONARY, 2, ROWS << 1, 1),
        "a page refers to a dictionary that is missing");
    assertRefused(
        number,
        dictionary,
        page(ROWS, ValueEncoding.DICTIONARY, 2, ROWS << 1, 3),
        "a page refers to a value that its dictionary lacks");
    int[] packed = new int[2 + ROWS / 4];
    packed[0] = 2;
    packed[1] = ((ROWS / 8) << 1) | 1;
    packed[7] = 0xc0;
    assertRefused(
        number,
        dictionary,
        page(ROWS, ValueEncoding.DICTIONARY, packed),
        "column 'INT32 false' cannot be read: a page refers to a value that its dictionary lacks");
    assertRefused(number, dictionary, page(ROWS, ValueEncoding.DICTIONARY, 33), "codes of 33 bits");
    assertRefused(
        number,
        dictionary,
        page(ROWS, ValueEncoding.DICTIONARY, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 1),
        "a run whose header does not end");
    assertRefused(
        number,
        dictionary,
        page(ROWS, ValueEncoding.DICTIONARY, 2, 20 << 1, 1),
        "runs of 20 values instead of 40");
    assertRefused(
        optional,
        null,
        page(ROWS, ValueEncoding.PLAIN, 2, 0, 0, 0, ROWS << 1, 2),
        "a definition level of 2");
    assertRefused(
        bytes,
        null,
        page(ROWS, ValueEncoding.PLAIN, 1, 0, 0, 0, 'a', 255, 255, 255, 255),
        "a value of -1 bytes does not fit its page");
    assertRefused(
        bytes,
        null,
        page(ROWS, ValueEncoding.PLAIN, 1, 0, 0, 0, 'a', 1, 0, 0, 0, 'b'),
        "a page has 2 values instead of 40");
  }

  @Test
  void nullsOfAColumnThatIsNotNullAreRefused() {
    FlatColumn column =
        new FlatColumn(new Field("x", DataType.INT64, false), PhysicalType.INT64, false, true);
    assertRefused(
        column,
        null,
        page(ROWS, ValueEncoding.PLAIN, 2, 0, 0, 0, ROWS << 1, 0),
        "column 'x' cannot be read: it is NOT NULL and has 40 nulls");
  }

  @Test
  void columnsHoldTheirValuesOnly() {
    assertThatThrownBy(() -> column(PhysicalType.INT64, DataType.STRING, true))
        .hasMessage("expected another type than STRING for 'INT64 true', whose pages have INT64");
  }
}
