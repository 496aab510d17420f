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
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * The pages of a snapshot that an earlier checkpoint has, in files that are worth keeping. A file
 * of which less than half is in use is not, nor are the files of which the earlier checkpoint used
 * the fewest bytes if it had many. So files take at most twice the bytes of the pages, and there
 * are few of them. Of two checkpoints with the same earlier checkpoint, the later one keeps no file
 * that the other one has given up, and that Flink may have deleted.
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
      KeyedStates.Snapshot snapshot,
      PageIndex base,
      Predicate<StreamStateHandle> mayReuse,
      DeviceStream stream,
      GpuRetry retry) {
    ReusedPages reused = new ReusedPages(base);
    Map<Long, TablePages> before = base.tablesById();
    for (StateSnapshot table : snapshot.tables()) {
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
    Map<UUID, Long> used = usedBytes(tables.stream().flatMap(Arrays::stream));
    files.addAll(mostUsedFiles());
    files.removeIf(
        file -> {
          StreamStateHandle handle = base.files().get(file);
          return 2 * used.getOrDefault(file, 0L) < handle.getStateSize() || !mayReuse.test(handle);
        });
    tables.forEach(pages -> Arrays.setAll(pages, i -> isReused(pages[i]) ? pages[i] : null));
  }

  // Looks at the earlier checkpoint alone, so that it depends on nothing that changed since.
  private Set<UUID> mostUsedFiles() {
    if (base.files().size() <= MAX_FILES) {
      return base.files().keySet();
    }
    Map<UUID, Long> used =
        usedBytes(base.tables().stream().flatMap(table -> table.pages().stream()));
    return used.keySet().stream()
        .sorted(Comparator.<UUID>comparingLong(used::get).reversed().thenComparing(file -> file))
        .limit(MAX_FILES / 2)
        .collect(Collectors.toSet());
  }

  private static Map<UUID, Long> usedBytes(Stream<Page> pages) {
    return pages
        .filter(Objects::nonNull)
        .collect(Collectors.groupingBy(Page::file, Collectors.summingLong(Page::bytes)));
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
