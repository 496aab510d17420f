// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;

/** An allocation failed: free or spill memory, retry, or split the batch and retry. */
@PublicEvolving
public class GpuOutOfMemoryException extends GpuException {
  private static final long serialVersionUID = 1L;

  public GpuOutOfMemoryException(String message) {
    super(message);
  }
}
