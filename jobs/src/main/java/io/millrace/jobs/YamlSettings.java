package io.millrace.jobs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads a YAML file as flat settings: nested keys are joined by dots, lists by commas, and a
 * mapping of column names to types under {@code schema} becomes {@code name type, name type}.
 */
final class YamlSettings {
  private YamlSettings() {}

  /**
   * @throws UsageException if the file cannot be read or is not a YAML mapping
   */
  static Map<String, String> read(Path file) {
    Object root;
    try {
      root =
          new Load(LoadSettings.builder().setLabel(file.toString()).build())
              .loadFromString(Files.readString(file));
    } catch (IOException e) {
      throw new UsageException("cannot read the file " + file);
    } catch (YamlEngineException e) {
      throw new UsageException(
          file + " is not YAML: " + e.getMessage().lines().collect(Collectors.joining(" ")));
    }
    if (!(root instanceof Map<?, ?> mapping)) {
      throw new UsageException(file + " must be a YAML mapping of options");
    }
    Map<String, String> settings = new TreeMap<>();
    flatten("", mapping, settings);
    return settings;
  }

  private static void flatten(String prefix, Map<?, ?> mapping, Map<String, String> settings) {
    mapping.forEach(
        (name, value) -> {
          String key = prefix + name;
          if (value instanceof Map<?, ?> columns && key.endsWith("schema")) {
            settings.put(key, join(columns));
          } else if (value instanceof Map<?, ?> nested) {
            flatten(key + ".", nested, settings);
          } else if (value instanceof List<?> items) {
            settings.put(
                key, items.stream().map(String::valueOf).collect(Collectors.joining(", ")));
          } else {
            settings.put(key, String.valueOf(value));
          }
        });
  }

  private static String join(Map<?, ?> columns) {
    return columns.entrySet().stream()
        .map(column -> column.getKey() + " " + column.getValue())
        .collect(Collectors.joining(", "));
  }
}
