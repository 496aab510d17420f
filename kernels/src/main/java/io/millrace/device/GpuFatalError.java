// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;

/**
 * A CUDA error after which every later call in this process fails too (illegal address, launch
 * failure, uncorrectable memory error, lost device): the process must end. Flink treats an {@link
 * InternalError} as fatal to the JVM and halts the TaskManager.
 */
@PublicEvolving
public class GpuFatalError extends InternalError {
  private static final long serialVersionUID = 1L;

  public GpuFatalError(String message) {
    super(message);
  }
}
