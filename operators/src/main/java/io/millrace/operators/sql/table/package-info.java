// SPDX-License-Identifier: Apache-2.0
/**
 * What users of Flink SQL and authors of connectors see: the options of the planner hook, and the
 * interfaces of tables whose connectors give or take batches, and rows of them.
 */
package io.millrace.operators.sql.table;
