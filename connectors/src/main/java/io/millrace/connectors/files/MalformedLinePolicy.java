// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import org.apache.flink.annotation.PublicEvolving;

/** The handling of a line that cannot be parsed. */
@PublicEvolving
public enum MalformedLinePolicy {
  /** It is counted and goes to {@link LineParsingFunction#MALFORMED_LINES}; the job continues. */
  SIDE_OUTPUT,
  /** The job fails with the position of the line. */
  FAIL
}
