package io.millrace.connectors.files;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * A line of a text file with its position. Immutable: {@link #bytes} is shared, nobody writes it.
 */
public final class TextLine {
  private final String path;
  private final long offset;
  private final byte[] bytes;
  private final boolean truncated;

  /**
   * @param path the file's path, as the file system spells it
   * @param offset of the line's first byte in the (decompressed) file
   * @param bytes the line without its line end; not copied
   * @param truncated whether the line was longer than the source allows, and its rest is left out
   */
  public TextLine(String path, long offset, byte[] bytes, boolean truncated) {
    this.path = Objects.requireNonNull(path, "path is null");
    this.offset = offset;
    this.bytes = Objects.requireNonNull(bytes, "bytes is null");
    this.truncated = truncated;
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

  /** The line as UTF-8; what is none is replaced. */
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
        && Arrays.equals(bytes, line.bytes);
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
