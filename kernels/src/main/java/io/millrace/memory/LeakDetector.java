// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports buffers that were garbage-collected without being closed, with the stack that created
 * them. It only reports: copying and freeing do not depend on it. The system property {@code
 * millrace.leak-detection} sets the {@link Level}; an unknown value is logged as an error and
 * counts as {@code sampled}. Thread-safe. The idea is Netty's.
 */
final class LeakDetector {
  static final String LEVEL_PROPERTY = "millrace.leak-detection";

  // A prime, so that every buffer is sampled some time if batches all have the same number of
  // buffers.
  static final int SAMPLE_INTERVAL = 127;

  private static final Logger LOGGER = LoggerFactory.getLogger(LeakDetector.class);

  /** Follows the buffers of the process. */
  static final LeakDetector PROCESS =
      new LeakDetector(
          Level.parse(System.getProperty(LEVEL_PROPERTY, "sampled"), LOGGER::error),
          site ->
              LOGGER.warn(
                  "A buffer was not closed; its memory is held until the process ends", site));

  private final Level level;
  private final Consumer<Throwable> report;
  private final ReferenceQueue<Object> collected = new ReferenceQueue<>();
  private final Set<Tracker> open = ConcurrentHashMap.newKeySet();
  private final AtomicLong leaks = new AtomicLong();
  // Threads that lose a count of each other sample a little less.
  private int made;

  /** The buffers that are tracked. */
  enum Level {
    OFF,
    /** One buffer in {@link #SAMPLE_INTERVAL}. */
    SAMPLED,
    /** All, which walks the stack for each buffer. */
    ALL;

    /**
     * The level of this name in any case; {@link #SAMPLED}, after {@code error}, if there is none.
     */
    static Level parse(String name, Consumer<String> error) {
      try {
        return valueOf(name.toUpperCase(Locale.ROOT));
      } catch (IllegalArgumentException e) {
        error.accept(
            "expected off, sampled or all for "
                + LEVEL_PROPERTY
                + ", got '"
                + name
                + "': using sampled");
        return SAMPLED;
      }
    }
  }

  /**
   * @param report is given where a buffer was made that was not closed, in the thread that makes
   *     the next one that is followed
   */
  LeakDetector(Level level, Consumer<Throwable> report) {
    this.level = level;
    this.report = report;
  }

  /** Follows one object until it is closed. */
  final class Tracker extends PhantomReference<Object> {
    private final Throwable site = new Throwable("made here");

    private Tracker(Object made) {
      super(made, collected);
    }

    /** The object was closed, as it must. */
    void close() {
      open.remove(this);
      clear();
    }
  }

  /** Follows {@code object}, or gives null if its turn is not now. */
  Tracker track(Object object) {
    if (!isFollowed()) {
      return null;
    }
    reportCollected();
    Tracker tracker = new Tracker(object);
    open.add(tracker);
    return tracker;
  }

  private boolean isFollowed() {
    if (level != Level.SAMPLED) {
      return level == Level.ALL;
    }
    if (++made < SAMPLE_INTERVAL) {
      return false;
    }
    made = 0;
    return true;
  }

  /** Reports the buffers collected since the last call. */
  void reportCollected() {
    for (Reference<?> next = collected.poll(); next != null; next = collected.poll()) {
      if (next instanceof Tracker tracker && open.remove(tracker)) {
        leaks.incrementAndGet();
        report.accept(tracker.site);
      }
    }
  }

  /** The number of buffers reported. */
  long leaks() {
    return leaks.get();
  }
}
