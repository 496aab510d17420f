// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Values that are slow to make, each made once and shared by all who hold it. Of those that nobody
 * holds the ones released last stay, up to a limit; the others are disposed of. Thread-safe.
 */
final class ReferenceCountedCache<K, V> {

  private static final class Entry<V> {
    private int holders;
    private V value;

    // Holders of other entries do not wait for it.
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
   * @param maximumIdle how many values that nobody holds stay
   * @param disposal called once for a value, which nobody holds any more
   */
  ReferenceCountedCache(int maximumIdle, Consumer<V> disposal) {
    this.maximumIdle = maximumIdle;
    this.disposal = disposal;
  }

  /**
   * The value of {@code key}, which stays until the caller releases it.
   *
   * @param maker makes the value if there is none; what it throws is thrown, and nothing is held
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

  /** Gives back a value of {@link #acquire}, once for each call. */
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
