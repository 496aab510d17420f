// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;

/** No GPU can be used; the message states the reason and the option to set. */
@PublicEvolving
public class DeviceUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DeviceUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
