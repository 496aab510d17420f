// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Shares values that are expensive to create. Values without a holder stay in the cache up to a
 * limit, least recently released first out. Thread-safe.
 */
final class ReferenceCountedCache<K, V> {

  private static final class Entry<V> {
    private int holders;
    private V value;

    // A lock per entry, so that holders of other entries do not wait for its creation.
    synchronized V get(Supplier<V> maker) {
      if (value == null) {
        value = maker.get();
      }
      return value;
    }
  }

  private final int maximumIdle;
  private final Consumer<V> disposal;
  private final Map<K, Entry<V>> held = new HashMap<>();
  private final Map<K, Entry<V>> idle = new LinkedHashMap<>();

  /**
   * @param maximumIdle maximum number of cached values without a holder
   * @param disposal called once for a value that is evicted
   */
  ReferenceCountedCache(int maximumIdle, Consumer<V> disposal) {
    this.maximumIdle = maximumIdle;
    this.disposal = disposal;
  }

  /**
   * Returns the value of {@code key}, which stays until the caller releases it.
   *
   * @param maker creates a missing value; if it throws, the exception propagates and nothing is
   *     held
   */
  V acquire(K key, Supplier<V> maker) {
    Entry<V> entry;
    synchronized (this) {
      Entry<V> known = idle.remove(key);
      entry = held.computeIfAbsent(key, next -> known == null ? new Entry<>() : known);
      entry.holders++;
    }
    try {
      return entry.get(maker);
    } catch (RuntimeException | Error e) {
      release(key);
      throw e;
    }
  }

  /** Releases a value, once for each call of {@link #acquire}. */
  void release(K key) {
    V disposed = null;
    synchronized (this) {
      Entry<V> entry = held.get(key);
      if (--entry.holders > 0) {
        return;
      }
      held.remove(key);
      if (entry.value != null) {
        idle.put(key, entry);
      }
      if (idle.size() > maximumIdle) {
        Iterator<Entry<V>> eldest = idle.values().iterator();
        disposed = eldest.next().value;
        eldest.remove();
      }
    }
    if (disposed != null) {
      disposal.accept(disposed);
    }
  }
}
