// SPDX-License-Identifier: Apache-2.0
/** Rows and Arrow batches to batches of columns, and back. */
package io.millrace.operators.batching;
