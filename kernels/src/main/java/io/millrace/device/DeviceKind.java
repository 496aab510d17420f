// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;

/** The kinds of {@link Device}. */
@PublicEvolving
public enum DeviceKind {
  /** An NVIDIA GPU, driven through the CUDA driver API. */
  CUDA,
  /** This machine's processor: kernels run as plain Java in the calling thread. */
  HOST
}
