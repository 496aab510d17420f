// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.apache.flink.annotation.Internal;

/**
 * Generates the events of the Nexmark benchmark, each from its number alone: the same number gives
 * the same event in whatever order, process or split of the numbers. {@link NexmarkModel} says what
 * the events are like.
 *
 * <p>Used by one thread.
 */
@Internal
public final class NexmarkGenerator {
  private static final int ITEM_NAME_LETTERS = 20;
  private static final int DESCRIPTION_LETTERS = 100;
  private static final int MIN_LETTERS = 3;
  private static final int CARD_GROUP = 10_000;

  private final NexmarkConfiguration configuration;
  private final EventRandom random;
  private final TextPool texts;

  public NexmarkGenerator(NexmarkConfiguration configuration) {
    this.configuration = Objects.requireNonNull(configuration, "configuration is null");
    this.random = new EventRandom(configuration.seed());
    this.texts = new TextPool(configuration.seed());
  }

  /** The kind of the event with number {@code event}. */
  public static EventKind kind(long event) {
    long offset = event % NexmarkModel.EVENTS_PER_EPOCH;
    if (offset < NexmarkModel.PERSONS_PER_EPOCH) {
      return EventKind.PERSON;
    }
    return offset < NexmarkModel.PERSONS_PER_EPOCH + NexmarkModel.AUCTIONS_PER_EPOCH
        ? EventKind.AUCTION
        : EventKind.BID;
  }

  /** The number of the event that is bid {@code bid}, both counted from 0. */
  public static long eventOfBid(long bid) {
    return bid / NexmarkModel.BIDS_PER_EPOCH * NexmarkModel.EVENTS_PER_EPOCH
        + NexmarkModel.PERSONS_PER_EPOCH
        + NexmarkModel.AUCTIONS_PER_EPOCH
        + bid % NexmarkModel.BIDS_PER_EPOCH;
  }

  /** The event time in milliseconds; it does not decrease from event to event. */
  public long eventMillis(long event) {
    long rate = configuration.eventsPerSecond();
    return configuration.firstEventMillis() + event / rate * 1000 + event % rate * 1000 / rate;
  }

  /** The person that event {@code event} is; for events of another kind, the one before. */
  public Person person(long event) {
    random.start(event);
    String first = pick(NexmarkModel.FIRST_NAMES);
    String last = pick(NexmarkModel.LAST_NAMES);
    String name = first + " " + last;
    String email = letters(7) + "@" + letters(5) + ".com";
    String card = cardGroup() + " " + cardGroup() + " " + cardGroup() + " " + cardGroup();
    String city = pick(NexmarkModel.CITIES);
    String state = pick(NexmarkModel.STATES);
    int bytes =
        Long.BYTES
            + name.length()
            + email.length()
            + card.length()
            + city.length()
            + state.length();
    return new Person(
        NexmarkModel.FIRST_PERSON_ID + lastPerson(event),
        name,
        email,
        card,
        city,
        state,
        eventMillis(event),
        extra(bytes, NexmarkModel.PERSON_BYTES));
  }

  /** The auction that event {@code event} is; for events of another kind, the one before. */
  public Auction auction(long event) {
    random.start(event);
    String itemName = lettersUpTo(ITEM_NAME_LETTERS);
    String description = lettersUpTo(DESCRIPTION_LETTERS);
    long initialBid = texts.price(random);
    long seller =
        random.nextInt(NexmarkModel.HOT_SELLER_RATIO) > 0
            ? hot(lastPerson(event))
            : activePerson(event);
    int bytes = itemName.length() + description.length() + 7 * Long.BYTES;
    long millis = eventMillis(event);
    return new Auction(
        NexmarkModel.FIRST_AUCTION_ID + lastAuction(event),
        itemName,
        description,
        initialBid,
        initialBid + texts.price(random),
        millis,
        millis + 1 + random.nextLong(Math.max(1, 2 * openMillis(event))),
        NexmarkModel.FIRST_PERSON_ID + seller,
        NexmarkModel.FIRST_CATEGORY_ID + random.nextInt(NexmarkModel.CATEGORIES),
        extra(bytes, NexmarkModel.AUCTION_BYTES));
  }

  /** The bid that event {@code event} is. */
  public Bid bid(long event) {
    BidValues values = new BidValues();
    bid(event, values);
    return new Bid(
        values.auction,
        values.bidder,
        values.price,
        ascii(texts.channelName(values.channel)),
        ascii(texts.url(values.channel)),
        values.dateTime,
        texts.text(values.extraStart, values.extraLength));
  }

  /** Fills in the values of the bid that event {@code event} is. */
  void bid(long event, BidValues values) {
    random.start(event);
    values.auction =
        NexmarkModel.FIRST_AUCTION_ID
            + (random.nextInt(NexmarkModel.HOT_AUCTION_RATIO) > 0
                ? hot(lastAuction(event))
                : openAuction(event));
    // The hot bidder is the one after the hot seller: nobody bids for what he sells.
    values.bidder =
        NexmarkModel.FIRST_PERSON_ID
            + (random.nextInt(NexmarkModel.HOT_BIDDER_RATIO) > 0
                ? hot(lastPerson(event)) + 1
                : activePerson(event));
    values.price = texts.price(random);
    values.channel = texts.channel(random);
    values.dateTime = eventMillis(event);
    values.extraLength = extraLength(4 * Long.BYTES, NexmarkModel.BID_BYTES);
    values.extraStart = texts.start(random, values.extraLength);
  }

  TextPool texts() {
    return texts;
  }

  // The last person, from 0, generated before or at the event.
  private static long lastPerson(long event) {
    long epoch = event / NexmarkModel.EVENTS_PER_EPOCH;
    long offset = event % NexmarkModel.EVENTS_PER_EPOCH;
    return epoch * NexmarkModel.PERSONS_PER_EPOCH
        + Math.min(offset, NexmarkModel.PERSONS_PER_EPOCH - 1);
  }

  // The last auction, from 0, generated before or at the event; -1 if there is none.
  private static long lastAuction(long event) {
    long epoch = event / NexmarkModel.EVENTS_PER_EPOCH;
    long offset = event % NexmarkModel.EVENTS_PER_EPOCH - NexmarkModel.PERSONS_PER_EPOCH;
    return epoch * NexmarkModel.AUCTIONS_PER_EPOCH
        + Math.min(Math.max(offset, -1), NexmarkModel.AUCTIONS_PER_EPOCH - 1);
  }

  private static long hot(long last) {
    return last / NexmarkModel.HOT_PERIOD * NexmarkModel.HOT_PERIOD;
  }

  private long activePerson(long event) {
    long persons = lastPerson(event) + 1;
    long active = Math.min(persons, NexmarkModel.ACTIVE_PERSONS);
    return persons - active + random.nextInt(active + NexmarkModel.ID_LEAD);
  }

  private long openAuction(long event) {
    long last = lastAuction(event);
    long first = Math.max(0, last - NexmarkModel.OPEN_AUCTIONS);
    return first + random.nextInt(last - first + 1 + NexmarkModel.ID_LEAD);
  }

  // Auctions stay open for as long as it takes to generate as many as are open at a time.
  private long openMillis(long event) {
    long events =
        (long) NexmarkModel.OPEN_AUCTIONS
            * NexmarkModel.EVENTS_PER_EPOCH
            / NexmarkModel.AUCTIONS_PER_EPOCH;
    return eventMillis(event + events) - eventMillis(event);
  }

  private String pick(List<String> values) {
    return values.get(random.nextInt(values.size()));
  }

  private String cardGroup() {
    return Integer.toString(CARD_GROUP + random.nextInt(CARD_GROUP)).substring(1);
  }

  private String letters(int length) {
    return texts.text(texts.start(random, length), length);
  }

  private String lettersUpTo(int maximum) {
    return letters(MIN_LETTERS + random.nextInt(maximum - MIN_LETTERS));
  }

  private String extra(int bytes, int meanBytes) {
    return letters(extraLength(bytes, meanBytes));
  }

  private int extraLength(int bytes, int meanBytes) {
    int mean = Math.max(0, meanBytes - bytes);
    int spread = (mean + 2) / 5;
    return mean - spread + random.nextInt(Math.max(1, 2L * spread));
  }

  private static String ascii(byte[] text) {
    return new String(text, StandardCharsets.US_ASCII);
  }

  /** A bid whose texts are still in the {@link TextPool}. */
  static final class BidValues {
    long auction;
    long bidder;
    long price;
    int channel;
    long dateTime;
    int extraStart;
    int extraLength;
  }
}
