// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A line of a text file with its position. Immutable: {@link #bytes} and {@link #header} are
 * shared, nobody writes them.
 */
@PublicEvolving
public final class TextLine {
  private final String path;
  private final long offset;
  private final byte[] bytes;
  private final boolean truncated;
  private final byte[] header;

  /**
   * @param path the file's path, as the file system spells it
   * @param offset of the line's first byte in the (decompressed) file
   * @param bytes the line without its line end; not copied
   * @param truncated whether the line was longer than the source allows, and its rest is left out
   */
  public TextLine(String path, long offset, byte[] bytes, boolean truncated) {
    this(path, offset, bytes, truncated, null);
  }

  /**
   * As above.
   *
   * @param header the file's first line, without its line end, if that is a header; else null. Not
   *     copied
   */
  public TextLine(String path, long offset, byte[] bytes, boolean truncated, byte[] header) {
    this.path = Objects.requireNonNull(path, "path is null");
    this.offset = offset;
    this.bytes = Objects.requireNonNull(bytes, "bytes is null");
    this.truncated = truncated;
    this.header = header;
  }

  public String path() {
    return path;
  }

  public long offset() {
    return offset;
  }

  /** The line as it stands in the file. Not to be written to. */
  public byte[] bytes() {
    return bytes;
  }

  public boolean truncated() {
    return truncated;
  }

  /** The file's header; null if it has none. Not to be written to. */
  public byte[] header() {
    return header;
  }

  /** The line as UTF-8; malformed bytes are replaced. */
  public String text() {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** {@code path:offset}. */
  public String position() {
    return path + ":" + offset;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TextLine line
        && path.equals(line.path)
        && offset == line.offset
        && truncated == line.truncated
        && Arrays.equals(bytes, line.bytes)
        && Arrays.equals(header, line.header);
  }

  @Override
  public int hashCode() {
    return Objects.hash(path, offset, truncated, Arrays.hashCode(bytes));
  }

  @Override
  public String toString() {
    return position() + ": " + text();
  }
}
