// SPDX-License-Identifier: Apache-2.0
/** Expressions against stock Flink SQL: same values, same types. */
package io.millrace.parity;
