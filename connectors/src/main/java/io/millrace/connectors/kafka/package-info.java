// SPDX-License-Identifier: Apache-2.0
/**
 * Kafka as source and sink: records to batches and back, with Flink's Kafka connector underneath.
 */
package io.millrace.connectors.kafka;
