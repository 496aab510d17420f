// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;

/** The schemas of generated events, and events as rows of them. */
@PublicEvolving
public final class NexmarkSchemas {
  private static final DataType MILLIS = DataType.timestamp(3);

  /** Bids alone. */
  public static final Schema BID =
      Schema.of(
          required("auction", DataType.INT64),
          required("bidder", DataType.INT64),
          required("price", DataType.INT64),
          required("channel", DataType.STRING),
          required("url", DataType.STRING),
          required("date_time", MILLIS),
          required("extra", DataType.STRING));

  /** Persons alone. */
  public static final Schema PERSON =
      Schema.of(
          required("id", DataType.INT64),
          required("name", DataType.STRING),
          required("email_address", DataType.STRING),
          required("credit_card", DataType.STRING),
          required("city", DataType.STRING),
          required("state", DataType.STRING),
          required("date_time", MILLIS),
          required("extra", DataType.STRING));

  /** Auctions alone. */
  public static final Schema AUCTION =
      Schema.of(
          required("id", DataType.INT64),
          required("item_name", DataType.STRING),
          required("description", DataType.STRING),
          required("initial_bid", DataType.INT64),
          required("reserve", DataType.INT64),
          required("date_time", MILLIS),
          required("expires", MILLIS),
          required("seller", DataType.INT64),
          required("category", DataType.INT64),
          required("extra", DataType.STRING));

  /**
   * All events: {@code event_type} is {@link EventKind#eventType}, and of the three ROWs all but
   * that kind's are null.
   */
  public static final Schema EVENT =
      Schema.of(
          required("event_type", DataType.INT32),
          Field.of("person", struct(PERSON)),
          Field.of("auction", struct(AUCTION)),
          Field.of("bid", struct(BID)),
          required("date_time", MILLIS));

  private NexmarkSchemas() {}

  private static Field required(String name, DataType type) {
    return new Field(name, type, false);
  }

  private static DataType struct(Schema schema) {
    return DataType.struct(schema.fields().toArray(Field[]::new));
  }

  /** Event {@code event} as a row of {@link #EVENT}. */
  public static RowData eventRow(NexmarkGenerator generator, long event) {
    EventKind kind = NexmarkGenerator.kind(event);
    return GenericRowData.of(
        kind.eventType(),
        kind == EventKind.PERSON ? row(generator.person(event)) : null,
        kind == EventKind.AUCTION ? row(generator.auction(event)) : null,
        kind == EventKind.BID ? row(generator.bid(event)) : null,
        timestamp(generator.eventMillis(event)));
  }

  /** A row of {@link #PERSON}. */
  public static RowData row(Person person) {
    return GenericRowData.of(
        person.id(),
        text(person.name()),
        text(person.emailAddress()),
        text(person.creditCard()),
        text(person.city()),
        text(person.state()),
        timestamp(person.dateTime()),
        text(person.extra()));
  }

  /** A row of {@link #AUCTION}. */
  public static RowData row(Auction auction) {
    return GenericRowData.of(
        auction.id(),
        text(auction.itemName()),
        text(auction.description()),
        auction.initialBid(),
        auction.reserve(),
        timestamp(auction.dateTime()),
        timestamp(auction.expires()),
        auction.seller(),
        auction.category(),
        text(auction.extra()));
  }

  /** A row of {@link #BID}. */
  public static RowData row(Bid bid) {
    return GenericRowData.of(
        bid.auction(),
        bid.bidder(),
        bid.price(),
        text(bid.channel()),
        text(bid.url()),
        timestamp(bid.dateTime()),
        text(bid.extra()));
  }

  private static StringData text(String value) {
    return StringData.fromString(value);
  }

  private static TimestampData timestamp(long millis) {
    return TimestampData.fromEpochMillis(millis);
  }
}
