// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.kernel.hash.MurmurHash3;
import io.millrace.testing.RandomExtension;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartitionAssignerTest {
  private static final int MIXED_TO_MIN_VALUE = 0x836f0755;

  @RegisterExtension final RandomExtension random = new RandomExtension();

  // The arithmetic of Flink's KeyGroupRangeAssignment.
  private static int keyGroup(int hash, int maximumParallelism) {
    int mixed = MurmurHash3.ofInt(0, hash);
    int positive = mixed >= 0 ? mixed : mixed == Integer.MIN_VALUE ? 0 : -mixed;
    return positive % maximumParallelism;
  }

  @ParameterizedTest
  @CsvSource({"1,1", "2,1", "2,2", "128,8", "128,7", "100,7", "4096,4096", "32767,300", "32768,9"})
  void groupsAndSubtasksAreThoseOfFlinksArithmetic(int maximumParallelism, int parallelism) {
    assertThat(MurmurHash3.ofInt(0, MIXED_TO_MIN_VALUE)).isEqualTo(Integer.MIN_VALUE);
    int[] hashes =
        IntStream.concat(
                IntStream.of(0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, MIXED_TO_MIN_VALUE),
                random.random().ints(1_000))
            .toArray();
    int[] groups = Arrays.stream(hashes).map(hash -> keyGroup(hash, maximumParallelism)).toArray();
    int[] subtasks =
        Arrays.stream(groups).map(group -> group * parallelism / maximumParallelism).toArray();

    int[] numbers = hashes.clone();
    PartitionAssigner.keyGroups(maximumParallelism).number(numbers, numbers.length);
    assertThat(numbers).isEqualTo(groups);

    PartitionAssigner.subtasks(maximumParallelism, parallelism).number(hashes, hashes.length);
    assertThat(hashes).isEqualTo(subtasks);
  }
}
