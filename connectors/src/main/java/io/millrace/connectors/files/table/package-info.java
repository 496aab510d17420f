// SPDX-License-Identifier: Apache-2.0
/** Files as tables of Flink SQL: the connector {@code millrace-filesystem}. */
package io.millrace.connectors.files.table;
