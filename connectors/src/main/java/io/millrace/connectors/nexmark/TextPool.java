// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The texts that events take from, made once from the seed: channels with their URLs, prices, and a
 * stretch of random letters of which each filling is a part. Making new letters for each event
 * would cost more than all else.
 */
final class TextPool {
  private static final int LETTERS = 1 << 16;
  private static final int PRICES = 1 << 16;
  private static final int PATH_LETTERS = 5;
  private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz";

  private final byte[] letters = new byte[LETTERS];
  private final long[] prices = new long[PRICES];
  private final List<byte[]> channels = new ArrayList<>();
  private final List<byte[]> urls = new ArrayList<>();

  TextPool(long seed) {
    EventRandom random = new EventRandom(~seed);
    random.start(0);
    for (int i = 0; i < LETTERS; i++) {
      letters[i] = (byte) ALPHABET.charAt(random.nextInt(ALPHABET.length()));
    }
    for (int i = 0; i < PRICES; i++) {
      double exponent = NexmarkModel.PRICE_EXPONENTS * (i + 0.5) / PRICES;
      prices[i] = Math.round(StrictMath.pow(10, exponent) * NexmarkModel.CENTS);
    }
    for (String channel : NexmarkModel.HOT_CHANNELS) {
      channels.add(ascii(channel));
      urls.add(ascii(url(random)));
    }
    for (int i = 0; i < NexmarkModel.CHANNELS; i++) {
      channels.add(ascii("channel-" + i));
      urls.add(ascii(url(random) + "&channel_id=" + i));
    }
  }

  private String url(EventRandom random) {
    return "https://www.nexmark.com/"
        + path(random)
        + "/"
        + path(random)
        + "/"
        + path(random)
        + "/item.htm?query=1";
  }

  private String path(EventRandom random) {
    return text(random.nextInt(LETTERS - PATH_LETTERS), PATH_LETTERS);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Random letters. Not to be written to. */
  byte[] letters() {
    return letters;
  }

  String text(int start, int length) {
    return new String(letters, start, length, StandardCharsets.US_ASCII);
  }

  /** A start of {@code length} letters within {@link #letters}. */
  int start(EventRandom random, int length) {
    return random.nextInt(LETTERS - length + 1L);
  }

  /** A price in cents. */
  long price(EventRandom random) {
    return prices[random.nextInt(PRICES)];
  }

  /** The index of a channel, and of its URL. */
  int channel(EventRandom random) {
    return random.nextInt(NexmarkModel.HOT_CHANNEL_RATIO) > 0
        ? random.nextInt(NexmarkModel.HOT_CHANNELS.size())
        : NexmarkModel.HOT_CHANNELS.size() + random.nextInt(NexmarkModel.CHANNELS);
  }

  byte[] channelName(int channel) {
    return channels.get(channel);
  }

  byte[] url(int channel) {
    return urls.get(channel);
  }
}
