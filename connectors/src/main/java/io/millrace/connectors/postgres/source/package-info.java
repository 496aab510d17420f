// SPDX-License-Identifier: Apache-2.0
/** Tables of PostgreSQL to batches: a snapshot, read in ranges of keys. */
package io.millrace.connectors.postgres.source;
