// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.expression.resolve.FunctionRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The checked-in function reference matches the registry. */
class FunctionReferenceTest {
  private static final Path FOLDER = Path.of("../docs/functions");
  private static final boolean WRITE = "write".equals(System.getProperty("millrace.reference"));

  @Test
  void pagesAreUpToDate() throws IOException {
    Map<String, String> pages = new FunctionReference(FunctionRegistry.builtIn()).pages();
    if (WRITE) {
      Files.createDirectories(FOLDER);
      for (Map.Entry<String, String> page : pages.entrySet()) {
        Files.writeString(FOLDER.resolve(page.getKey()), page.getValue());
      }
    }
    for (Map.Entry<String, String> page : pages.entrySet()) {
      Path file = FOLDER.resolve(page.getKey());
      assertThat(file).exists();
      assertThat(Files.readString(file))
          .as("%s; write it again with -Dmillrace.reference=write", file)
          .isEqualTo(page.getValue());
    }
  }
}
