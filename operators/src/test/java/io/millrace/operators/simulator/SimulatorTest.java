// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.Device;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.simulator.SimulatedSubtask.Place;
import io.millrace.operators.simulator.Simulation.Run;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.io.disk.iomanager.IOManager;
import org.apache.flink.runtime.io.disk.iomanager.IOManagerAsync;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Random schedules of rows, watermarks, barriers, snapshots, failures and restores: what operators
 * with keyed state emit is what a simple program says, at each moment, and in the end they hold
 * nothing. Plays {@value #SCHEDULES} schedules, or as many as {@code -Dmillrace.fuzz.seconds} has
 * time for. A schedule that fails is printed with its seed, with the steps that are needed for the
 * failure; {@code -Dmillrace.seed} repeats it.
 */
@ExtendWith(NothingHeldExtension.class)
class SimulatorTest {
  private static final int SCHEDULES = 1500;
  private static final long FUZZ_SECONDS = Long.getLong("millrace.fuzz.seconds", 0);

  private static final IOManager files = new IOManagerAsync();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @AfterAll
  static void closeFiles() throws Exception {
    files.close();
  }

  @Test
  void whatHappensInWhichOrderDoesNotMatter() {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(FUZZ_SECONDS);
    try (MemoryFaults faults = new MemoryFaults()) {
      Place place = new Place(device, files, faults, Map.of());
      long played = 0;
      while (FUZZ_SECONDS > 0 ? System.nanoTime() < end : played < SCHEDULES) {
        play(place, Schedule.of(random.seed() + played));
        played++;
      }
      System.out.println(played + " schedules were played");
    }
  }

  private static void play(Place place, Schedule schedule) {
    if (run(place, schedule, schedule.steps()).failure() != null) {
      Run shortest =
          run(
              place,
              schedule,
              schedule.shrink(steps -> run(place, schedule, steps).failure() != null));
      throw new AssertionError(
          "the schedule with -Dmillrace.seed="
              + schedule.seed()
              + " fails for "
              + schedule.operator()
              + (schedule.isIncremental() ? " with incremental checkpoints" : "")
              + " after these steps:\n  "
              + String.join("\n  ", shortest.log()),
          shortest.failure());
    }
  }

  private static Run run(Place place, Schedule schedule, List<Schedule.Step> steps) {
    long before = held();
    Run run = Simulation.run(place, schedule, steps);
    if (run.failure() != null) {
      return run;
    }
    try {
      assertThat(held()).as("bytes and batches held").isEqualTo(before);
      return run;
    } catch (AssertionError e) {
      return new Run(run.log(), e);
    }
  }

  private static long held() {
    Device device = Device.current();
    return ColumnBatch.liveBatches()
        + DeviceContext.heldBytes(device)
        + DeviceContext.spilledBytes(device)
        + device.stagingPool().heldBytes();
  }
}
