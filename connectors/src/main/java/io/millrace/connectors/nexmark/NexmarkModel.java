// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import java.util.List;

/**
 * The constants of the Nexmark benchmark: an auction site whose events are new persons, new
 * auctions and bids, in a fixed interleaving. They follow the benchmark's public description
 * (Tucker, Tufte, Papadimos, Maier: "NEXMark - A Benchmark for Queries over Data Streams") and the
 * default configuration of its widely used generators (Apache Beam's and the Flink suite's).
 */
final class NexmarkModel {
  /** In every 50 events, the first is a person, the next 3 are auctions, the other 46 bids. */
  static final int PERSONS_PER_EPOCH = 1;

  static final int AUCTIONS_PER_EPOCH = 3;
  static final int BIDS_PER_EPOCH = 46;
  static final int EVENTS_PER_EPOCH = PERSONS_PER_EPOCH + AUCTIONS_PER_EPOCH + BIDS_PER_EPOCH;

  /** Ids start here, so that they are not taken for event numbers. */
  static final long FIRST_PERSON_ID = 1000;

  static final long FIRST_AUCTION_ID = 1000;

  /** Auctions are in one of 5 categories, from 10. */
  static final long FIRST_CATEGORY_ID = 10;

  static final int CATEGORIES = 5;

  /** 1 of so many bids goes to any open auction, the others to the hot one. */
  static final int HOT_AUCTION_RATIO = 2;

  /** 1 of so many bids is by any active person, the others by the hot bidder. */
  static final int HOT_BIDDER_RATIO = 4;

  /** 1 of so many auctions is by any active person, the others by the hot seller. */
  static final int HOT_SELLER_RATIO = 4;

  /** 1 of so many bids comes through any channel, the others through one of the hot ones. */
  static final int HOT_CHANNEL_RATIO = 2;

  /** Every so many ids another auction or person becomes the hot one. */
  static final int HOT_PERIOD = 100;

  /** Auctions that are open at a time. */
  static final int OPEN_AUCTIONS = 100;

  /** The most recent persons that bid and sell. */
  static final int ACTIVE_PERSONS = 1000;

  /** The distance by which referenced ids may run ahead of the generated ids. */
  static final int ID_LEAD = 10;

  /** Channels besides the hot ones. */
  static final int CHANNELS = 10_000;

  static final List<String> HOT_CHANNELS = List.of("Google", "Facebook", "Baidu", "Apple");

  /** Mean sizes of the events in bytes, which {@code extra} fills up, give or take a fifth. */
  static final int PERSON_BYTES = 200;

  static final int AUCTION_BYTES = 500;
  static final int BID_BYTES = 100;

  /** Prices are spread evenly over the exponents: 10^(0 to 6) dollars, in cents. */
  static final int PRICE_EXPONENTS = 6;

  static final int CENTS = 100;

  static final List<String> STATES = List.of("AZ", "CA", "ID", "OR", "WA", "WY");
  static final List<String> CITIES =
      List.of(
          "Phoenix",
          "Los Angeles",
          "San Francisco",
          "Boise",
          "Portland",
          "Bend",
          "Redmond",
          "Seattle",
          "Kent",
          "Cheyenne");
  static final List<String> FIRST_NAMES =
      List.of(
          "Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter",
          "Walter");
  static final List<String> LAST_NAMES =
      List.of(
          "Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris");

  private NexmarkModel() {}
}
