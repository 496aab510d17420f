// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.flink.core.memory.DataInputDeserializer;

/**
 * The beginning of a stream of keyed state: the format's number, the version, the number of bytes
 * of a header, the header, and its CRC-32C. Numbers are big-endian.
 *
 * @param magic the format's number
 * @param versions that can be read; the last is written
 * @param mostBytes of a header
 */
record HeaderFormat(int magic, List<Integer> versions, int mostBytes) {
  /** A header that was read. */
  record Header(int version, DataInputDeserializer content) {}

  void write(byte[] header, DataOutputStream target) throws IOException {
    target.writeInt(magic);
    target.writeInt(versions.get(versions.size() - 1));
    target.writeInt(header.length);
    target.write(header);
    target.writeInt(checksum(header));
  }

  /**
   * Reads a header.
   *
   * @throws IOException if the stream has another format, or a version that cannot be read, or the
   *     header is damaged
   */
  Header read(InputStream source) throws IOException {
    try {
      return read(new DataInputStream(source));
    } catch (EOFException e) {
      throw new IOException("keyed state is damaged: it ends within its header", e);
    }
  }

  private Header read(DataInputStream source) throws IOException {
    int found = source.readInt();
    if (found != magic) {
      throw new IOException(
          String.format("expected keyed state, which begins with %08x, got %08x", magic, found));
    }
    int version = source.readInt();
    if (!versions.contains(version)) {
      throw new IOException(
          "expected keyed state of version "
              + String.join(" or ", versions.stream().map(String::valueOf).toList())
              + ", got version "
              + version);
    }
    int size = source.readInt();
    if (size < 0 || size > mostBytes) {
      throw new IOException("keyed state is damaged: its header has " + size + " bytes");
    }
    // Grows with what is there: the size may be damaged.
    byte[] bytes = source.readNBytes(size);
    if (bytes.length < size) {
      throw new EOFException();
    }
    if (source.readInt() != checksum(bytes)) {
      throw new IOException("keyed state is damaged: its header has another checksum");
    }
    return new Header(version, new DataInputDeserializer(bytes));
  }

  private static int checksum(byte[] bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return (int) checksum.getValue();
  }
}
