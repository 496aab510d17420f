// SPDX-License-Identifier: Apache-2.0
/** Nexmark's events as a table of Flink SQL: the connector {@code millrace-nexmark}. */
package io.millrace.connectors.nexmark.table;
