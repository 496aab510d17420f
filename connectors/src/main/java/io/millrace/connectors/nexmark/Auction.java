// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import org.apache.flink.annotation.Internal;

/**
 * An item that is put up for auction.
 *
 * @param initialBid in cents, as is {@code reserve}
 * @param dateTime in milliseconds, as is {@code expires}
 * @param seller a person's id
 */
@Internal
public record Auction(
    long id,
    String itemName,
    String description,
    long initialBid,
    long reserve,
    long dateTime,
    long expires,
    long seller,
    long category,
    String extra) {}
