// SPDX-License-Identifier: Apache-2.0
/** Batches to tables of PostgreSQL: exactly once, or at least once by key. */
package io.millrace.connectors.postgres.sink;
