// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.block;

import java.util.Arrays;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Whole lines of a text file that follow each other, with their line feeds. Nobody writes the bytes
 * until the operator that decodes the block gives their array back to the reader; so one operator
 * alone decodes the blocks of a source.
 */
@PublicEvolving
public final class TextBlock {
  private final String path;
  private final long offset;
  private final byte[] array;
  private final int length;
  private final boolean truncated;
  private final byte[] header;
  private final BlockLimit limit;

  /**
   * @param path the file's path, as the file system spells it
   * @param offset of the first byte in the (decompressed) file
   * @param array has the bytes at its start; not copied
   * @param length how many bytes there are
   * @param truncated whether the block is one line that was longer than the source allows, and its
   *     rest is left out
   * @param header the first line of the file, if files have headers, without its line end; null
   *     otherwise
   * @param limit of further blocks; {@code array} is from there
   */
  TextBlock(
      String path,
      long offset,
      byte[] array,
      int length,
      boolean truncated,
      byte[] header,
      BlockLimit limit) {
    this.path = path;
    this.offset = offset;
    this.array = array;
    this.length = length;
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

  /** A copy of the lines as they stand in the file. */
  public byte[] bytes() {
    return Arrays.copyOf(array, length);
  }

  /** The lines as they stand in the file, at the start of the array. Not to be written to. */
  byte[] array() {
    return array;
  }

  /** Bytes of the lines. */
  public int length() {
    return length;
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

  /** Lets the reader write to the array: the last use of the block. */
  void release() {
    limit.giveBack(array);
  }
}
