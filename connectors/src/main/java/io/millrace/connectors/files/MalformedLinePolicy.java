package io.millrace.connectors.files;

/** What becomes of a line that cannot be parsed. */
public enum MalformedLinePolicy {
  /** It is counted and goes to {@link ParseLines#MALFORMED_LINES}; the job goes on. */
  SIDE_OUTPUT,
  /** The job fails and says which line it was. */
  FAIL
}
