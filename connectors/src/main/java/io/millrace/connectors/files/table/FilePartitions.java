// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.table;

import io.millrace.connectors.files.InputFiles;
import io.millrace.connectors.files.sink.PartitionKeys;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.Path;
import org.apache.flink.table.utils.PartitionPathUtils;

/** The folders of partitions, {@code key=value}, that there are in a table's folder. */
final class FilePartitions {
  /**
   * A folder.
   *
   * @param specification the values of the keys, null for NULL, in the order of folders
   */
  record Partition(Map<String, String> specification, Path folder) {}

  private FilePartitions() {}

  /**
   * Lists the partitions of a table with keys, by the names of their folders.
   *
   * @param path the table's folder, or a pattern of folders
   * @throws java.io.FileNotFoundException if there is no such folder
   * @throws IOException if a file system cannot be asked
   */
  static List<Partition> list(String path, PartitionKeys keys) throws IOException {
    List<Partition> partitions = new ArrayList<>();
    for (Path table : InputFiles.resolve(List.of(path))) {
      List<Tuple2<LinkedHashMap<String, String>, Path>> folders =
          PartitionPathUtils.searchPartSpecAndPaths(
              table.getFileSystem(), table, keys.names().size());
      for (Tuple2<LinkedHashMap<String, String>, Path> folder : folders) {
        if (folder.f0.keySet().containsAll(keys.names())) {
          partitions.add(new Partition(specification(folder.f0, keys), folder.f1));
        }
      }
    }
    partitions.sort(Comparator.comparing(partition -> partition.folder().toString()));
    return partitions;
  }

  private static Map<String, String> specification(Map<String, String> names, PartitionKeys keys) {
    Map<String, String> values = new LinkedHashMap<>();
    for (String key : keys.names()) {
      String name = names.get(key);
      values.put(key, name.equals(keys.defaultName()) ? null : name);
    }
    return values;
  }
}
