// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import org.apache.flink.annotation.PublicEvolving;

/** What becomes of a line that cannot be parsed. */
@PublicEvolving
public enum MalformedLinePolicy {
  /** It is counted and goes to {@link LineParsingFunction#MALFORMED_LINES}; the job goes on. */
  SIDE_OUTPUT,
  /** The job fails and says which line it was. */
  FAIL
}
