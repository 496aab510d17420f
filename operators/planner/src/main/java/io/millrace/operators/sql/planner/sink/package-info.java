// SPDX-License-Identifier: Apache-2.0
/** Sinks of tables whose connectors take batches. */
package io.millrace.operators.sql.planner.sink;
