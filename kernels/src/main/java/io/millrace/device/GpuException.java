// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;

/** A CUDA call failed in a way that leaves the process able to use the GPU: fail the task. */
@PublicEvolving
public class GpuException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public GpuException(String message) {
    super(message);
  }
}
