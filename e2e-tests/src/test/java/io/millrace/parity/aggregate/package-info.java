// SPDX-License-Identifier: Apache-2.0
/** Aggregates by key against those of Flink SQL. */
package io.millrace.parity.aggregate;
