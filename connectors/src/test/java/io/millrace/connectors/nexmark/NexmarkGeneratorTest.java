// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.millrace.column.Table;
import io.millrace.testing.DeviceExtension;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class NexmarkGeneratorTest {
  private static final long EVENTS = 100_000;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final NexmarkGenerator generator = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);

  private static Object event(NexmarkGenerator generator, long number) {
    return switch (NexmarkGenerator.kind(number)) {
      case PERSON -> generator.person(number);
      case AUCTION -> generator.auction(number);
      case BID -> generator.bid(number);
    };
  }

  private List<Bid> bids(long count) {
    return LongStream.range(0, count)
        .mapToObj(bid -> generator.bid(NexmarkGenerator.eventOfBid(bid)))
        .toList();
  }

  @Test
  void anEventDependsOnSeedAndNumberAlone() {
    NexmarkGenerator other = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);
    NexmarkGenerator otherSeed = new NexmarkGenerator(NexmarkConfiguration.DEFAULT.withSeed(1));
    List<Object> forwards = new ArrayList<>();
    List<Object> backwards = new ArrayList<>();
    for (long i = 0; i < 1000; i++) {
      forwards.add(event(generator, i));
      backwards.add(0, event(other, 999 - i));
      assertThat(event(otherSeed, i)).isNotEqualTo(forwards.get((int) i));
    }
    assertThat(backwards).isEqualTo(forwards);
  }

  @Test
  void twoPercentPersonsSixPercentAuctions() {
    Map<EventKind, Long> counts = new EnumMap<>(EventKind.class);
    for (long i = 0; i < EVENTS; i++) {
      counts.merge(NexmarkGenerator.kind(i), 1L, Long::sum);
    }
    assertThat(counts)
        .containsEntry(EventKind.PERSON, EVENTS * 2 / 100)
        .containsEntry(EventKind.AUCTION, EVENTS * 6 / 100)
        .containsEntry(EventKind.BID, EVENTS * 92 / 100);
  }

  @Test
  void idsRunWithoutGaps() {
    List<Long> persons = new ArrayList<>();
    List<Long> auctions = new ArrayList<>();
    for (long i = 0; i < 5000; i++) {
      switch (NexmarkGenerator.kind(i)) {
        case PERSON -> persons.add(generator.person(i).id());
        case AUCTION -> auctions.add(generator.auction(i).id());
        case BID -> {}
      }
    }
    assertThat(persons).isEqualTo(LongStream.range(1000, 1100).boxed().toList());
    assertThat(auctions).isEqualTo(LongStream.range(1000, 1300).boxed().toList());
  }

  @Test
  void bidsAreCountedInTheOrderOfEvents() {
    List<Long> expected =
        LongStream.range(0, 1000)
            .filter(event -> NexmarkGenerator.kind(event) == EventKind.BID)
            .boxed()
            .toList();
    assertThat(LongStream.range(0, 920).map(NexmarkGenerator::eventOfBid).boxed().toList())
        .isEqualTo(expected);
  }

  @Test
  void eventTimeFollowsTheNumberAtTheRate() {
    NexmarkConfiguration configuration = new NexmarkConfiguration(0, 5, 300);
    NexmarkGenerator slow = new NexmarkGenerator(configuration);
    assertThat(slow.eventMillis(0)).isEqualTo(5);
    assertThat(slow.eventMillis(1)).isEqualTo(8);
    assertThat(slow.eventMillis(300)).isEqualTo(1005);
    assertThat(slow.eventMillis(300_000_000_000L)).isEqualTo(1_000_000_000_005L);
  }

  @Test
  void halfOfTheBidsGoToTheHotAuctionAndThreeQuartersComeFromTheHotBidder() {
    List<Bid> bids = bids(EVENTS).subList(50_000, (int) EVENTS);
    double hotAuctions = share(bids, bid -> bid.auction() % 100 == 0);
    double hotBidders = share(bids, bid -> bid.bidder() % 100 == 1);
    assertThat(hotAuctions).isCloseTo(0.5, within(0.02));
    assertThat(hotBidders).isCloseTo(0.75, within(0.02));
  }

  @Test
  void halfOfTheBidsComeThroughFourChannels() {
    List<Bid> bids = bids(EVENTS);
    Map<String, Long> channels =
        bids.stream().collect(Collectors.groupingBy(Bid::channel, Collectors.counting()));
    for (String channel : List.of("Google", "Facebook", "Baidu", "Apple")) {
      assertThat(channels.get(channel) / (double) bids.size()).isCloseTo(0.125, within(0.01));
    }
    assertThat(channels).hasSizeGreaterThan(9000);
    assertThat(bids.stream().filter(bid -> bid.channel().startsWith("channel-")).toList())
        .allMatch(bid -> bid.url().endsWith("&channel_id=" + bid.channel().substring(8)))
        .allMatch(bid -> bid.url().matches("https://www\\.nexmark\\.com/(\\w+/){3}item.htm.*"));
  }

  @Test
  void pricesAreSpreadEvenlyOverTheirExponents() {
    List<Bid> bids = bids(EVENTS);
    long[] counts = new long[6];
    bids.forEach(bid -> counts[(int) Math.floor(Math.log10(bid.price() / 100.0))]++);
    for (long count : counts) {
      assertThat(count / (double) EVENTS).isCloseTo(1 / 6.0, within(0.02));
    }
  }

  @Test
  void bidsReferToPersonsAndAuctionsAroundTheirTime() {
    for (long i = EVENTS; i < EVENTS + 5000; i++) {
      if (NexmarkGenerator.kind(i) == EventKind.BID) {
        Bid bid = generator.bid(i);
        assertThat(bid.auction()).isBetween(1000 + i * 3 / 50 - 105, 1000 + i * 3 / 50 + 13);
        assertThat(bid.bidder()).isBetween(1000 + i / 50 - 1000, 1000 + i / 50 + 11);
        assertThat(bid.extra()).hasSizeBetween(54, 81);
      }
    }
  }

  @Test
  void auctionsEndAfterTheyStart() {
    for (long i = 0; i < EVENTS; i++) {
      if (NexmarkGenerator.kind(i) == EventKind.AUCTION) {
        Auction auction = generator.auction(i);
        assertThat(auction.expires()).isGreaterThan(auction.dateTime());
        assertThat(auction.reserve()).isGreaterThan(auction.initialBid());
        assertThat(auction.category()).isBetween(10L, 14L);
      }
    }
  }

  @Test
  void tablesHaveTheSameBidsHoweverTheyAreCut() {
    List<List<Object>> expected = bids(700).stream().map(NexmarkGeneratorTest::values).toList();
    try (BidTables tables = new BidTables(generator, device.hostStream(), device.hostMemory())) {
      List<List<Object>> rows = new ArrayList<>();
      for (int[] part : new int[][] {{0, 300}, {300, 1}, {301, 399}}) {
        try (Table table = tables.generate(part[0], part[1])) {
          rows.addAll(device.rows(table));
        }
      }
      assertThat(rows).isEqualTo(expected);
    }
  }

  private static List<Object> values(Bid bid) {
    return List.of(
        bid.auction(),
        bid.bidder(),
        bid.price(),
        bid.channel(),
        bid.url(),
        LocalDateTime.ofEpochSecond(
            bid.dateTime() / 1000, (int) (bid.dateTime() % 1000) * 1_000_000, ZoneOffset.UTC),
        bid.extra());
  }

  private static <T> double share(List<T> values, Function<T, Boolean> condition) {
    return values.stream().filter(condition::apply).count() / (double) values.size();
  }
}
