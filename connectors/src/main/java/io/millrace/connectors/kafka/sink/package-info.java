// SPDX-License-Identifier: Apache-2.0
/** Batches to records of topics: rows as JSON, batches as Arrow streams, dead letters. */
package io.millrace.connectors.kafka.sink;
