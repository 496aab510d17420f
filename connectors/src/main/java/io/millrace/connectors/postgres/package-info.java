// SPDX-License-Identifier: Apache-2.0
/** PostgreSQL: batches to tables, exactly once, and tables to batches. */
package io.millrace.connectors.postgres;
