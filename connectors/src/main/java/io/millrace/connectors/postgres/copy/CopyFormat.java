// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** What stands around the rows of a binary COPY. */
final class CopyFormat {
  /** In the place of a row's number of fields: there are no more rows. */
  static final short END_OF_ROWS = -1;

  private static final byte[] SIGNATURE =
      "PGCOPY\n\u00ff\r\n\0".getBytes(StandardCharsets.ISO_8859_1);
  private static final int WITH_OIDS = 1 << 16;

  private CopyFormat() {}

  static byte[] header() {
    // Flags, and the length of the header's extension.
    return Arrays.copyOf(SIGNATURE, SIGNATURE.length + 2 * Integer.BYTES);
  }

  static byte[] trailer() {
    return ByteBuffer.allocate(Short.BYTES).putShort(END_OF_ROWS).array();
  }

  /**
   * Skips a header.
   *
   * @throws IllegalArgumentException if {@code in} does not begin with one
   */
  static void skipHeader(ByteBuffer in) {
    byte[] signature = new byte[SIGNATURE.length];
    if (in.remaining() < SIGNATURE.length + 2 * Integer.BYTES) {
      throw new IllegalArgumentException("a binary COPY begins with a header");
    }
    in.get(signature);
    int flags = in.getInt();
    int extension = in.getInt();
    if (!Arrays.equals(signature, SIGNATURE) || (flags & WITH_OIDS) != 0 || extension < 0) {
      throw new IllegalArgumentException("the header of a binary COPY is of another format");
    }
    in.position(in.position() + extension);
  }
}
