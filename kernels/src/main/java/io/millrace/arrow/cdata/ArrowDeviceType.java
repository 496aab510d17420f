// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.annotation.PublicEvolving;

/**
 * The type of device that holds the buffers of an {@link ArrowDeviceArray}: Arrow's {@code
 * ARROW_DEVICE_*}.
 */
@PublicEvolving
public enum ArrowDeviceType {
  /** Ordinary host memory. */
  CPU(1),
  /** Memory of a CUDA GPU. */
  CUDA(2),
  /** Host memory pinned for CUDA. */
  CUDA_HOST(3),
  /** CUDA's managed memory. */
  CUDA_MANAGED(13);

  private final int code;

  ArrowDeviceType(int code) {
    this.code = code;
  }

  /** The number in the struct. */
  public int code() {
    return code;
  }

  /**
   * The type with this number.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  public static ArrowDeviceType of(int code) {
    for (ArrowDeviceType type : values()) {
      if (type.code == code) {
        return type;
      }
    }
    throw new IllegalArgumentException("the Arrow device type " + code + " is not supported");
  }
}
