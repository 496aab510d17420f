// SPDX-License-Identifier: Apache-2.0
/** Scans of tables whose connectors give batches. */
package io.millrace.operators.sql.planner.source;
