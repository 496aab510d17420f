// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import org.apache.flink.annotation.Internal;

/** What a command on a cluster could not do; the message tells the user all. */
@Internal
public final class ClusterException extends Exception {
  private static final long serialVersionUID = 1L;

  ClusterException(String message) {
    super(message);
  }

  ClusterException(String message, Throwable cause) {
    super(message, cause);
  }
}
