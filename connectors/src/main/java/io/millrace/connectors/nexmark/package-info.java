// SPDX-License-Identifier: Apache-2.0
/**
 * The events of the Nexmark benchmark, generated.
 *
 * <p>{@link io.millrace.connectors.nexmark.NexmarkStreams} makes streams: bids as column batches or
 * as rows, and all events as rows of one schema. {@link
 * io.millrace.connectors.nexmark.NexmarkGenerator} generates single events, and {@link
 * io.millrace.connectors.nexmark.BidTables} tables of bids, without Flink. {@link
 * io.millrace.connectors.nexmark.NexmarkSchemas} has the schemas.
 */
package io.millrace.connectors.nexmark;
