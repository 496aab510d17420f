// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The complete example of docs/column-stream.md runs. */
@ExtendWith(NothingHeldExtension.class)
class ExpensiveBidsTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private final PrintStream standardOutput = System.out;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  /** Makes the cluster of the tests the environment of the example. */
  @SuppressWarnings("try") // close() may throw anything, as the superclass has it
  private static final class ClusterEnvironment extends StreamExecutionEnvironment {
    private ClusterEnvironment(Configuration configuration) {
      super(configuration);
    }

    private static void use() {
      initializeContextEnvironment(
          configuration -> {
            ClusterEnvironment environment = new ClusterEnvironment(configuration);
            environment.setParallelism(1);
            return environment;
          });
    }

    private static void useNoMore() {
      resetContextEnvironment();
    }

    @Override
    public JobExecutionResult execute(String jobName) throws Exception {
      flink.run(this);
      return null;
    }
  }

  @BeforeEach
  void capture() {
    ClusterEnvironment.use();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void restore() {
    System.setOut(standardOutput);
    ClusterEnvironment.useNoMore();
  }

  @Test
  void rowsAreAddedUpInTheWindowsOfTheirOwnTimes() throws Exception {
    ExpensiveBids.main(new String[0]);
    assertThat(printed.toString(StandardCharsets.UTF_8).lines())
        .containsExactlyInAnyOrder("+I[1, 1816.000]", "+I[2, 1362.000]", "+I[1, 2724.000]");
  }
}
