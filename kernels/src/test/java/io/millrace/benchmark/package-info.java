// SPDX-License-Identifier: Apache-2.0
/** Runs JMH benchmarks and prints their results beside those of libcudf. */
package io.millrace.benchmark;
