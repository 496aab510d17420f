// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Makes the bytes of a datum of Avro, value by value. */
final class AvroDatum {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  /** An int, a long, a length or the number of a branch. */
  AvroDatum number(long value) {
    long bits = (value << 1) ^ (value >> 63);
    for (; (bits & ~0x7fL) != 0; bits >>>= 7) {
      bytes.write((int) ((bits & 0x7f) | 0x80));
    }
    bytes.write((int) bits);
    return this;
  }

  AvroDatum raw(int... values) {
    for (int value : values) {
      bytes.write(value);
    }
    return this;
  }

  AvroDatum raw(byte[] values) {
    bytes.writeBytes(values);
    return this;
  }

  /** Bytes behind their number. */
  AvroDatum sized(byte[] values) {
    return number(values.length).raw(values);
  }

  AvroDatum text(String value) {
    return sized(value.getBytes(StandardCharsets.UTF_8));
  }

  AvroDatum real(float value) {
    return raw(buffer(Float.BYTES).putFloat(value).array());
  }

  AvroDatum real(double value) {
    return raw(buffer(Double.BYTES).putDouble(value).array());
  }

  /** The id of a schema, as in the wire format of Confluent. */
  AvroDatum id(int id) {
    return raw(0).raw(ByteBuffer.allocate(Integer.BYTES).putInt(id).array());
  }

  private static ByteBuffer buffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  byte[] bytes() {
    return bytes.toByteArray();
  }
}
