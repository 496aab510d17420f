// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.connectors.table.TableFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.Factory;
import org.junit.jupiter.api.Test;

/** The page of tables has each option of the connectors and formats, and no other. */
class SqlTablesPageTest {
  private static final Pattern ROW = Pattern.compile("(?m)^\\| (`[^|]*`) \\|");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  private static Stream<DynamicTableFactory> factories() {
    return ServiceLoader.load(Factory.class).stream()
        .map(ServiceLoader.Provider::type)
        .filter(type -> type.getName().startsWith("io.millrace.connectors."))
        .map(
            type -> {
              try {
                return (DynamicTableFactory) type.getDeclaredConstructor().newInstance();
              } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
              }
            });
  }

  private static Set<String> options() {
    Stream<String> ofConnectors =
        factories()
            .flatMap(
                factory ->
                    Stream.of(factory.requiredOptions(), factory.optionalOptions())
                        .flatMap(Set::stream))
            .map(ConfigOption::key);
    Stream<String> ofFormats =
        Arrays.stream(TableFormat.values())
            .flatMap(
                format ->
                    format.options().stream()
                        .map(option -> format.identifier() + "." + option.key()));
    return Stream.concat(ofConnectors, ofFormats).collect(Collectors.toSet());
  }

  @Test
  void thePageHasTheOptions() throws IOException {
    String page = Files.readString(Path.of("../docs/sql-tables.md"));
    Set<String> explained =
        ROW.matcher(page)
            .results()
            .flatMap(row -> CODE.matcher(row.group(1)).results())
            .map(code -> code.group(1))
            .collect(Collectors.toSet());
    assertThat(explained).containsExactlyInAnyOrderElementsOf(options());
    assertThat(factories().map(Factory::factoryIdentifier))
        .hasSizeGreaterThan(2)
        .allSatisfy(name -> assertThat(page).contains(": `" + name + "`"));
  }
}
