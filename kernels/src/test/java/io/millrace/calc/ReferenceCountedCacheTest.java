// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReferenceCountedCacheTest {
  private final List<String> made = Collections.synchronizedList(new ArrayList<>());
  private final List<String> disposed = Collections.synchronizedList(new ArrayList<>());
  private final ReferenceCountedCache<String, String> cache =
      new ReferenceCountedCache<>(2, disposed::add);

  private String acquire(String key) {
    return cache.acquire(
        key,
        () -> {
          made.add(key);
          return key + made.size();
        });
  }

  @Test
  void createsAValueOnceForAllHolders() {
    assertThat(List.of(acquire("a"), acquire("b"), acquire("a"))).containsExactly("a1", "b2", "a1");
  }

  @Test
  void keepsHeldValuesBeyondTheLimit() {
    IntStream.range(0, 10).forEach(i -> acquire("key" + i));
    acquire("key0");
    cache.release("key0");

    assertThat(disposed).isEmpty();
    assertThat(acquire("key0")).isEqualTo("key01");
  }

  @Test
  void disposesOfTheIdleValueThatWasReleasedFirst() {
    List.of("a", "b", "c").forEach(this::acquire);
    List.of("a", "b").forEach(cache::release);
    acquire("a");
    cache.release("a");
    assertThat(disposed).isEmpty();

    cache.release("c");
    assertThat(disposed).containsExactly("b2");
    assertThat(acquire("b")).isEqualTo("b4");
    assertThat(acquire("a")).isEqualTo("a1");
  }

  @Test
  void aFailureIsThrownAndTheNextCallerRetries() {
    assertThatThrownBy(
            () ->
                cache.acquire(
                    "a",
                    () -> {
                      throw new IllegalStateException("not now");
                    }))
        .hasMessage("not now");

    assertThat(acquire("a")).isEqualTo("a1");
    cache.release("a");
    assertThat(disposed).isEmpty();
  }

  @Test
  void manyThreadsMakeAValueOnceAndDisposeOfItOnce() {
    IntStream.range(0, 1_000)
        .parallel()
        .forEach(
            i -> {
              String key = "key" + i % 4;
              assertThat(acquire(key)).startsWith(key);
              cache.release(key);
            });

    assertThat(disposed).doesNotHaveDuplicates();
    assertThat(made).hasSize(disposed.size() + 2);
  }
}
