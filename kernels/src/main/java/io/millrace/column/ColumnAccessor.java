package io.millrace.column;

import java.util.LinkedHashMap;
import java.util.Map;

/** Placeholder. */
public final class ColumnAccessor {
  private final int levels;
  private final Map<ColumnLabel, Column> columns = new LinkedHashMap<>();

  public ColumnAccessor(int levels) {
    this.levels = levels;
  }

  public int levels() {
    return levels;
  }

  public void put(ColumnLabel label, Column column) {
    columns.put(label, column);
  }
}
