// SPDX-License-Identifier: Apache-2.0
/** Tables of PostgreSQL as tables of Flink SQL: the connector {@code millrace-postgres}. */
package io.millrace.connectors.postgres.table;
