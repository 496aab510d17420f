// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.DeviceStream;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.state.PageIndex.Page;
import io.millrace.operators.state.PageIndex.TablePages;
import io.millrace.state.StateSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * The pages of a snapshot that an earlier checkpoint has, in files that are worth keeping. A file
 * of which less than half is in use is not, nor are the files with the fewest bytes in use if there
 * are many. So files take at most twice the bytes of the pages, and there are few of them.
 */
final class ReusedPages {
  private static final int MAX_FILES = 64;

  private final PageIndex base;
  // For each table its pages; null for pages to write.
  private final List<Page[]> tables = new ArrayList<>();
  private final Set<UUID> files = new HashSet<>();

  private ReusedPages(PageIndex base) {
    this.base = base;
  }

  /**
   * Finds the pages that did not change since {@code base}.
   *
   * @param mayReuse whether the checkpoint may refer to a file
   */
  static ReusedPages find(
      StateTables.Snapshot snapshot,
      PageIndex base,
      Predicate<StreamStateHandle> mayReuse,
      DeviceStream stream,
      GpuRetry retry) {
    ReusedPages reused = new ReusedPages(base);
    Map<Long, TablePages> before = base.tablesById();
    for (StateSnapshot table : snapshot.tables().values()) {
      long[] epochs = retry.withRetry(() -> table.pageEpochs(stream));
      reused.tables.add(unchanged(epochs, before.get(table.tableId())));
    }
    reused.choose(mayReuse);
    return reused;
  }

  private static Page[] unchanged(long[] epochs, TablePages before) {
    Page[] pages = new Page[epochs.length];
    for (int i = 0; before != null && i < before.pages().size(); i++) {
      if (epochs[i] <= before.epoch()) {
        pages[i] = before.pages().get(i);
      }
    }
    return pages;
  }

  private void choose(Predicate<StreamStateHandle> mayReuse) {
    Map<UUID, Long> used = new HashMap<>();
    tables.stream()
        .flatMap(Arrays::stream)
        .filter(Objects::nonNull)
        .forEach(page -> used.merge(page.file(), page.bytes(), Long::sum));
    used.entrySet().removeIf(file -> !isWorthKeeping(file, mayReuse));
    if (used.size() > MAX_FILES) {
      used.entrySet().stream()
          .sorted(Map.Entry.<UUID, Long>comparingByValue(Comparator.reverseOrder()))
          .limit(MAX_FILES / 2)
          .forEach(file -> files.add(file.getKey()));
    } else {
      files.addAll(used.keySet());
    }
    tables.forEach(pages -> Arrays.setAll(pages, i -> isReused(pages[i]) ? pages[i] : null));
  }

  private boolean isWorthKeeping(
      Map.Entry<UUID, Long> used, Predicate<StreamStateHandle> mayReuse) {
    StreamStateHandle file = base.files().get(used.getKey());
    return 2 * used.getValue() >= file.getStateSize() && mayReuse.test(file);
  }

  private boolean isReused(Page page) {
    return page != null && files.contains(page.file());
  }

  /** The pages of a table, by its position in the snapshot; null for pages to write. */
  Page[] pages(int table) {
    return tables.get(table);
  }

  /** The files of these pages. */
  Map<UUID, StreamStateHandle> files() {
    Map<UUID, StreamStateHandle> reused = new LinkedHashMap<>(base.files());
    reused.keySet().retainAll(files);
    return reused;
  }
}
