/** Rows and Arrow batches to batches of columns, and back. */
package io.millrace.operators.batching;
