// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import org.apache.flink.annotation.Internal;

/**
 * A bid for an item.
 *
 * @param auction an auction's id
 * @param bidder a person's id
 * @param price in cents
 * @param channel the origin of the bid
 * @param dateTime in milliseconds
 */
@Internal
public record Bid(
    long auction,
    long bidder,
    long price,
    String channel,
    String url,
    long dateTime,
    String extra) {}
