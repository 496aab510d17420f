package io.millrace.arrow;

/**
 * What Arrow says of one array beside its buffers.
 *
 * @param length elements
 * @param nullCount how many of them are null
 */
record ArrowNode(long length, long nullCount) {}
