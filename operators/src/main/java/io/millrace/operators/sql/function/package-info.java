// SPDX-License-Identifier: Apache-2.0
/** Functions of Flink SQL that compute micro-batches, for plans of Flink's own nodes. */
package io.millrace.operators.sql.function;
