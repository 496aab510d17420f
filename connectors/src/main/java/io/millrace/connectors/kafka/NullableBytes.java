// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import java.io.IOException;
import org.apache.flink.annotation.Internal;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Bytes that may be absent, as serializers of records write them. */
@Internal
public final class NullableBytes {
  private static final int ABSENT = -1;

  private NullableBytes() {}

  /** Writes the bytes, which may be null. */
  public static void write(byte[] bytes, DataOutputView target) throws IOException {
    target.writeInt(bytes == null ? ABSENT : bytes.length);
    if (bytes != null) {
      target.write(bytes);
    }
  }

  /** The bytes, or null. */
  public static byte[] read(DataInputView source) throws IOException {
    int length = source.readInt();
    if (length == ABSENT) {
      return null;
    }
    byte[] bytes = new byte[length];
    source.readFully(bytes);
    return bytes;
  }
}
