// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Table;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.connectors.nexmark.NexmarkGenerator.BidValues;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;
import java.util.function.IntToLongFunction;
import org.apache.flink.annotation.Internal;

/** Generates bids straight into columns of {@link NexmarkSchemas#BID}. Used by one thread. */
@Internal
public final class BidTables implements AutoCloseable {
  private final NexmarkGenerator generator;
  private final RowTableBuilder table;

  /**
   * @param stream a host stream, which must stay open as long as the tables
   * @param resource ordinary or pinned host memory
   */
  public BidTables(NexmarkGenerator generator, DeviceStream stream, MemoryResource resource) {
    this.generator = generator;
    this.table = new RowTableBuilder(NexmarkSchemas.BID, stream, resource);
  }

  /**
   * Bids {@code [firstBid, firstBid + count)}, counted from 0 without the other events.
   *
   * @throws GpuOutOfMemoryException if there is no memory for them; they may be generated again
   */
  public Table generate(long firstBid, int count) {
    return generate(i -> firstBid + i, count);
  }

  Table generate(NumberBatch bids) {
    return generate(bids.numbers()::number, bids.size());
  }

  private Table generate(IntToLongFunction bids, int count) {
    try {
      append(bids, count);
      return table.finish(count);
    } catch (GpuOutOfMemoryException e) {
      table.truncate(0);
      throw e;
    }
  }

  private void append(IntToLongFunction bids, int count) {
    FixedWidthColumnBuilder auction = fixedWidth(0);
    FixedWidthColumnBuilder bidder = fixedWidth(1);
    FixedWidthColumnBuilder price = fixedWidth(2);
    VariableWidthColumnBuilder channel = variableWidth(3);
    VariableWidthColumnBuilder url = variableWidth(4);
    FixedWidthColumnBuilder dateTime = fixedWidth(5);
    VariableWidthColumnBuilder extra = variableWidth(6);
    TextPool texts = generator.texts();
    BidValues bid = new BidValues();
    for (int i = 0; i < count; i++) {
      generator.bid(NexmarkGenerator.eventOfBid(bids.applyAsLong(i)), bid);
      auction.appendLong(bid.auction);
      bidder.appendLong(bid.bidder);
      price.appendLong(bid.price);
      channel.appendBytes(texts.channelName(bid.channel));
      url.appendBytes(texts.url(bid.channel));
      dateTime.appendLong(bid.dateTime);
      extra.appendBytes(texts.letters(), bid.extraStart, bid.extraLength);
    }
  }

  private FixedWidthColumnBuilder fixedWidth(int column) {
    return (FixedWidthColumnBuilder) table.column(column);
  }

  private VariableWidthColumnBuilder variableWidth(int column) {
    return (VariableWidthColumnBuilder) table.column(column);
  }

  @Override
  public void close() {
    table.close();
  }
}
