// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.operators.state.BlockReader.Encoding;
import io.millrace.operators.state.PageIndex.Page;
import io.millrace.operators.state.PageIndex.TablePages;
import io.millrace.operators.state.StateFormat.TableRows;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * The index of an incremental checkpoint, and the beginning of a file of pages. The index is a
 * {@link HeaderFormat} with the header of {@link StateFormat}; the number of files and the
 * identifier of each; and for each table, in the order of the header, the number of rows of a page,
 * and for each page the number of its file, its offset and its bytes. A file of pages begins with a
 * {@link HeaderFormat} with its identifier. In version 1 of files, the rows and the strings of
 * blocks are written as they are. In version 1 of the index, there is one state.
 */
final class PageIndexFormat {
  private static final int INDEX_VERSION_OF_ONE_STATE = 1;
  private static final HeaderFormat INDEX =
      new HeaderFormat(0x4d4c5249, List.of(INDEX_VERSION_OF_ONE_STATE, 2), 1 << 30);
  private static final int FILE_VERSION_OF_PLAIN_BLOCKS = 1;
  private static final HeaderFormat FILE =
      new HeaderFormat(0x4d4c5250, List.of(FILE_VERSION_OF_PLAIN_BLOCKS, 2), 2 * Long.BYTES);

  private PageIndexFormat() {}

  /** The beginning of the pages of {@code header}'s tables. */
  static void writeIndex(StateFormat.Header header, PageIndex index, OutputStream target)
      throws IOException {
    DataOutputSerializer bytes = new DataOutputSerializer(4 << 10);
    StateFormat.write(header, bytes);
    Map<UUID, Integer> numbers = new LinkedHashMap<>();
    bytes.writeInt(index.files().size());
    for (UUID file : index.files().keySet()) {
      numbers.put(file, numbers.size());
      write(file, bytes);
    }
    for (TablePages table : index.tables()) {
      bytes.writeInt(table.pageRows());
      for (Page page : table.pages()) {
        bytes.writeInt(numbers.get(page.file()));
        bytes.writeLong(page.offset());
        bytes.writeLong(page.bytes());
      }
    }
    DataOutputStream output = new DataOutputStream(target);
    INDEX.write(bytes.getCopyOfBuffer(), output);
    output.flush();
  }

  /** An index that was read. */
  record Index(StateFormat.Header header, PageIndex pages) {}

  /**
   * Reads an index.
   *
   * @param files of the checkpoint
   * @throws IOException if this is no index, or of a later version, or damaged, or a file is
   *     missing
   */
  static Index readIndex(InputStream source, Map<UUID, StreamStateHandle> files)
      throws IOException {
    HeaderFormat.Header read = INDEX.read(source);
    DataInputDeserializer bytes = read.content();
    StateFormat.Header header =
        read.version() == INDEX_VERSION_OF_ONE_STATE
            ? StateFormat.headerOfOneState(bytes)
            : StateFormat.header(bytes);
    List<UUID> numbered = new ArrayList<>();
    for (int i = bytes.readInt(); i > 0; i--) {
      UUID file = readId(bytes);
      numbered.add(file);
      if (!files.containsKey(file)) {
        throw new IOException("keyed state is damaged: the checkpoint lacks its file " + file);
      }
    }
    List<TablePages> tables = new ArrayList<>();
    for (StateFormat.State state : header.states()) {
      for (TableRows table : state.tables()) {
        tables.add(readPages(table, numbered, bytes));
      }
    }
    return new Index(header, new PageIndex(files, tables));
  }

  private static TablePages readPages(
      TableRows table, List<UUID> files, DataInputDeserializer bytes) throws IOException {
    int pageRows = number(bytes, 1, Integer.MAX_VALUE);
    List<Page> pages = new ArrayList<>();
    for (long row = 0; row < table.rowCount(); row += pageRows) {
      UUID file = files.get(number(bytes, 0, files.size() - 1));
      pages.add(new Page(file, bytes.readLong(), bytes.readLong()));
    }
    return new TablePages(0, 0, pageRows, pages);
  }

  private static int number(DataInputDeserializer bytes, int least, int most) throws IOException {
    int number = bytes.readInt();
    if (number < least || number > most) {
      throw new IOException(
          "keyed state is damaged: expected " + least + " to " + most + ", got " + number);
    }
    return number;
  }

  static void writeFileHeader(UUID file, DataOutputStream target) throws IOException {
    DataOutputSerializer bytes = new DataOutputSerializer(2 * Long.BYTES);
    write(file, bytes);
    FILE.write(bytes.getCopyOfBuffer(), target);
  }

  /**
   * Reads the beginning of a file of pages.
   *
   * @return how its blocks are written
   * @throws IOException if this is another file
   */
  static Encoding readFileHeader(UUID file, InputStream source) throws IOException {
    HeaderFormat.Header header = FILE.read(source);
    UUID found = readId(header.content());
    if (!found.equals(file)) {
      throw new IOException(
          "keyed state is damaged: expected its file " + file + ", got its file " + found);
    }
    return header.version() == FILE_VERSION_OF_PLAIN_BLOCKS ? Encoding.PLAIN : Encoding.PIECES;
  }

  private static void write(UUID id, DataOutputSerializer target) throws IOException {
    target.writeLong(id.getMostSignificantBits());
    target.writeLong(id.getLeastSignificantBits());
  }

  private static UUID readId(DataInputDeserializer source) throws IOException {
    return new UUID(source.readLong(), source.readLong());
  }
}
