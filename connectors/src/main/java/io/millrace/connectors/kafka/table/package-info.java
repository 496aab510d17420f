// SPDX-License-Identifier: Apache-2.0
/** Topics as tables of Flink SQL: the connector {@code millrace-kafka}. */
package io.millrace.connectors.kafka.table;
