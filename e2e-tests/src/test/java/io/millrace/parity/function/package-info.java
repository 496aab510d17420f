// SPDX-License-Identifier: Apache-2.0
/** Which of Flink SQL's scalar functions expressions have. */
package io.millrace.parity.function;
