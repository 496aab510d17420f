// SPDX-License-Identifier: Apache-2.0
/** Queries of Flink SQL with Millrace's nodes in their plans, against stock Flink SQL. */
package io.millrace.sql;
