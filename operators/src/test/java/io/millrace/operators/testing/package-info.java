// SPDX-License-Identifier: Apache-2.0
/** Fixtures of operator tests: a Flink cluster in this process, sources and sinks of batches. */
package io.millrace.operators.testing;
