// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.block;

import org.apache.flink.annotation.PublicEvolving;

/**
 * Whole lines of a text file that follow each other, with their line feeds. Immutable: the bytes
 * are shared, nobody writes them.
 */
@PublicEvolving
public final class TextBlock {
  private final String path;
  private final long offset;
  private final byte[] bytes;
  private final boolean truncated;
  private final byte[] header;
  private final BlockLimit limit;

  /**
   * @param path the file's path, as the file system spells it
   * @param offset of the first byte in the (decompressed) file
   * @param bytes not copied
   * @param truncated whether the block is one line that was longer than the source allows, and its
   *     rest is left out
   * @param header the first line of the file, if files have headers, without its line end; null
   *     otherwise
   * @param limit of further blocks of the file
   */
  TextBlock(
      String path, long offset, byte[] bytes, boolean truncated, byte[] header, BlockLimit limit) {
    this.path = path;
    this.offset = offset;
    this.bytes = bytes;
    this.truncated = truncated;
    this.header = header;
    this.limit = limit;
  }

  public String path() {
    return path;
  }

  public long offset() {
    return offset;
  }

  /** The lines as they stand in the file. Not to be written to. */
  public byte[] bytes() {
    return bytes;
  }

  public boolean truncated() {
    return truncated;
  }

  /** The first line of the file, if files have headers; else null. Not to be written to. */
  public byte[] header() {
    return header;
  }

  BlockLimit limit() {
    return limit;
  }
}
