// SPDX-License-Identifier: Apache-2.0
/** How fast queries of Flink SQL are with Millrace's nodes, against stock Flink SQL. */
package io.millrace.sql.benchmark;
