// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import java.io.IOException;
import org.apache.flink.annotation.PublicEvolving;

/** How the body of a serialized batch is compressed. */
@PublicEvolving
public enum BodyCodec {
  /** Not compressed. */
  RAW(0),
  /** One Zstandard frame of level 1, the fastest level that compresses well. */
  ZSTD(1);

  private final byte wireNumber;

  BodyCodec(int wireNumber) {
    this.wireNumber = (byte) wireNumber;
  }

  byte wireNumber() {
    return wireNumber;
  }

  static BodyCodec of(byte wireNumber) throws IOException {
    for (BodyCodec codec : values()) {
      if (codec.wireNumber == wireNumber) {
        return codec;
      }
    }
    throw new IOException("expected the number of a body codec, got " + wireNumber);
  }
}
