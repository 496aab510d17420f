// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.table;

import io.millrace.column.TypeId;
import io.millrace.connectors.files.InputException;
import io.millrace.connectors.files.InputFiles;
import io.millrace.connectors.files.scan.PartitionColumns;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.table.utils.PartitionPathUtils;

/** Finds the folders of partitions, {@code key=value}, below a table's folder. */
final class FilePartitions {
  /**
   * A folder.
   *
   * @param specification the values of the keys as the planner reads them; null for NULL
   */
  record Partition(Map<String, String> specification, Path folder) {}

  private final PartitionColumns keys;
  private final List<Partition> found = new ArrayList<>();

  private FilePartitions(PartitionColumns keys) {
    this.keys = keys;
  }

  /**
   * Lists the partitions of a table with keys, by the names of their folders. Folders may have the
   * keys in another order; other folders and files are left out.
   *
   * @param path the table's folder, or a pattern of folders
   * @throws FileNotFoundException if there is no such folder
   * @throws InputException if the name of a folder has a value that its key cannot have
   * @throws IOException if a folder cannot be listed
   */
  static List<Partition> list(String path, FileColumns columns) throws IOException {
    FilePartitions partitions =
        new FilePartitions(columns.partitionColumns(columns.partitionKeys().names()));
    for (Path table : InputFiles.resolve(List.of(path))) {
      partitions.find(table.getFileSystem(), table, Map.of());
    }
    partitions.found.sort(Comparator.comparing(partition -> partition.folder().toString()));
    return partitions.found;
  }

  private void find(FileSystem fileSystem, Path folder, Map<String, String> values)
      throws IOException {
    if (values.size() == keys.schema().size()) {
      found.add(new Partition(values, folder));
      return;
    }
    for (FileStatus child : children(fileSystem, folder)) {
      String name = child.getPath().getName();
      int end = name.indexOf('=');
      String key = end < 0 ? "" : PartitionPathUtils.unescapePathName(name.substring(0, end));
      if (child.isDir() && keys.schema().names().contains(key) && !values.containsKey(key)) {
        String text = PartitionPathUtils.unescapePathName(name.substring(end + 1));
        Map<String, String> more = new HashMap<>(values);
        more.put(key, specified(child.getPath(), key, text));
        find(fileSystem, child.getPath(), more);
      }
    }
  }

  // A folder that was deleted since it was found has no children.
  private static FileStatus[] children(FileSystem fileSystem, Path folder) throws IOException {
    FileStatus[] children;
    FileNotFoundException missing = null;
    try {
      children = fileSystem.listStatus(folder);
    } catch (FileNotFoundException e) {
      children = null;
      missing = e;
    }
    // A local file system gives null, and also fails if a child was deleted meanwhile.
    if (children == null && fileSystem.exists(folder)) {
      throw new IOException("the folder " + folder + " cannot be listed", missing);
    }
    return children == null ? new FileStatus[0] : children;
  }

  private String specified(Path folder, String key, String text) throws InputException {
    Object value = keys.value(folder.toString(), key, text);
    if (value == null) {
      return null;
    }
    boolean isDate = keys.schema().type(keys.schema().indexOf(key)).id() == TypeId.DATE;
    return isDate ? LocalDate.ofEpochDay((int) value).toString() : value.toString();
  }
}
