// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.operators.sql.SchemaParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads a YAML file as flat settings: nested keys are joined by dots, lists by commas; a mapping of
 * column names to types under {@code schema} becomes {@code name type, name type}, and a mapping of
 * column names to SQL under {@code aggregates} becomes {@code sql AS name, sql AS name}. A key
 * without a value has null.
 */
final class YamlSettings {
  private YamlSettings() {}

  /**
   * @throws UsageException if the file cannot be read, is not a YAML mapping, or a list, a schema
   *     or aggregates have an item without a value or with one that is not text
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
      throw new UsageException(file + " is not YAML" + place(e));
    }
    if (!(root instanceof Map<?, ?> mapping)) {
      throw new UsageException(file + " must be a YAML mapping of options");
    }
    Map<String, String> settings = new TreeMap<>();
    flatten("", mapping, settings);
    return settings;
  }

  // The exception's message repeats the line, which may hold a password.
  private static String place(YamlEngineException failure) {
    return failure instanceof MarkedYamlEngineException marked
        ? marked
            .getProblemMark()
            .map(
                mark -> ": see line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1))
            .orElse("")
        : "";
  }

  private static void flatten(String prefix, Map<?, ?> mapping, Map<String, String> settings) {
    mapping.forEach(
        (name, value) -> {
          String key = prefix + name;
          if (value instanceof Map<?, ?> columns && key.endsWith("schema")) {
            settings.put(key, schema(key, columns));
          } else if (value instanceof Map<?, ?> columns && key.endsWith("aggregates")) {
            settings.put(key, named(key, columns));
          } else if (value instanceof Map<?, ?> nested) {
            flatten(key + ".", nested, settings);
          } else if (value instanceof List<?> items) {
            settings.put(key, list(key, items));
          } else {
            settings.put(key, value == null ? null : value.toString());
          }
        });
  }

  private static String list(String key, List<?> items) {
    List<String> texts = new ArrayList<>();
    for (Object item : items) {
      texts.add(text(item, key + ": item " + (texts.size() + 1)));
    }
    return String.join(", ", texts);
  }

  private static String schema(String key, Map<?, ?> columns) {
    List<String> texts = new ArrayList<>();
    columns.forEach(
        (name, type) ->
            texts.add(
                SchemaParser.quote(String.valueOf(name))
                    + " "
                    + text(type, key + ": the type of column '" + name + "'")));
    return String.join(", ", texts);
  }

  private static String named(String key, Map<?, ?> columns) {
    List<String> texts = new ArrayList<>();
    columns.forEach(
        (name, sql) ->
            texts.add(
                text(sql, key + ": the aggregate '" + name + "'")
                    + " AS "
                    + "`"
                    + String.valueOf(name).replace("`", "``")
                    + "`"));
    return String.join(", ", texts);
  }

  private static String text(Object value, String what) {
    if (value == null) {
      throw new UsageException(what + " is empty");
    }
    if (value instanceof Map || value instanceof List) {
      String found = value instanceof Map ? "a mapping" : "a list";
      throw new UsageException(what + ": expected text, got " + found);
    }
    return value.toString();
  }
}
