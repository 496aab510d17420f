// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.row.SchemaConverter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The examples of the guide are text of tests that run, {@link ColumnStreamGuideTest}, or the file
 * that {@link ExpensiveBidsTest} runs; the table of types is compared with the code.
 */
class ColumnStreamPageTest {
  private static final Path PAGE = Path.of("../docs/column-stream.md");
  private static final Path TESTS =
      Path.of("src/test/java/io/millrace/operators/api/ColumnStreamGuideTest.java");
  private static final Path COMPLETE =
      Path.of("src/test/java/io/millrace/operators/api/ExpensiveBids.java");
  private static final Pattern EXAMPLE = Pattern.compile("(?s)```java\n(.*?)```");
  private static final int MIN_EXAMPLES = 8;

  @Test
  void eachExampleIsTheTextOfATest() throws IOException {
    assumeTrue(Files.exists(PAGE), "only where the sources are");
    Stream<String> methods = Arrays.stream(Files.readString(TESTS).split("@Test\n", -1)).skip(1);
    List<String> tests =
        Stream.concat(methods, Stream.of(Files.readString(COMPLETE)))
            .map(ColumnStreamPageTest::normalized)
            .toList();
    List<String> examples =
        EXAMPLE
            .matcher(Files.readString(PAGE))
            .results()
            .map(result -> normalized(result.group(1)))
            .toList();
    assertThat(examples)
        .hasSizeGreaterThanOrEqualTo(MIN_EXAMPLES)
        .allSatisfy(
            example ->
                assertThat(tests)
                    .as("a test with the text\n%s", example)
                    .anyMatch(test -> test.contains(example)));
  }

  @Test
  void theTableOfTypesIsThatOfTheCode() throws IOException {
    assumeTrue(Files.exists(PAGE), "only where the sources are");
    Map<String, DataType> types = new LinkedHashMap<>();
    types.put("DataType.BOOL", DataType.BOOL);
    types.put("DataType.INT8", DataType.INT8);
    types.put("DataType.INT16", DataType.INT16);
    types.put("DataType.INT32", DataType.INT32);
    types.put("DataType.INT64", DataType.INT64);
    types.put("DataType.FLOAT32", DataType.FLOAT32);
    types.put("DataType.FLOAT64", DataType.FLOAT64);
    types.put("DataType.decimal(10, 2)", DataType.decimal(10, 2));
    types.put("DataType.STRING", DataType.STRING);
    types.put("DataType.BINARY", DataType.BINARY);
    types.put("DataType.DATE", DataType.DATE);
    types.put("DataType.TIME", DataType.TIME);
    types.put("DataType.timestamp(6)", DataType.timestamp(6));
    types.put("DataType.timestamp(6, true)", DataType.timestamp(6, true));
    types.put("DataType.list(DataType.INT32)", DataType.list(DataType.INT32));
    types.put(
        "DataType.struct(Field.of(\"a\", DataType.INT32))",
        DataType.struct(Field.of("a", DataType.INT32)));
    List<String> lines = new ArrayList<>();
    types.forEach((text, type) -> lines.add(line(text, type)));
    assertThat(Files.readString(PAGE)).contains(String.join("\n", lines));
  }

  private static String line(String text, DataType type) {
    org.apache.flink.table.types.DataType flinkType =
        SchemaConverter.toDataType(Schema.of(Field.of("x", type))).getChildren().get(0);
    return String.format(
        "| `%s` | `%s` | `%s` |",
        flinkType.getLogicalType().asSummaryString().replace("`", ""),
        text,
        flinkType.getConversionClass().getSimpleName());
  }

  /** The lines without their indentation and without empty ones. */
  private static String normalized(String code) {
    return code.lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty())
        .collect(Collectors.joining("\n"));
  }
}
