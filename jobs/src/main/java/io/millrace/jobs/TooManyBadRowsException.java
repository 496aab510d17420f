// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

/** There are more bad rows than {@link EtlOptions#MAX_BAD_ROWS} allows. */
final class TooManyBadRowsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TooManyBadRowsException(String message) {
    super(message);
  }
}
