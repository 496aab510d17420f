// SPDX-License-Identifier: Apache-2.0
/**
 * Topics of Kafka as sources of batches: Flink's connector fetches records, which become batches
 * without a Java object for a row.
 */
package io.millrace.connectors.kafka;
