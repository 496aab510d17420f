// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.operators.simulator.Element.Barrier;
import io.millrace.operators.simulator.Element.Rows;
import io.millrace.operators.simulator.Element.WatermarkOf;
import io.millrace.operators.simulator.Schedule.Step;
import io.millrace.operators.simulator.SimulatedCheckpoint.Part;
import io.millrace.operators.simulator.SimulatedOperator.KeyGroupModel;
import io.millrace.operators.simulator.SimulatedOperator.RowSource;
import io.millrace.operators.simulator.SimulatedSubtask.Place;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.util.ExceptionUtils;

/**
 * A job of two subtasks of a source, a keyed exchange and an operator with keyed state, played on
 * one thread: each step of a {@link Schedule} lets one part of the job go on.
 */
final class Simulation {
  private static final int SOURCES = 2;
  private static final int MAX_PARALLELISM = 3;
  private static final int MAX_QUEUED = 16;

  private final Place place;
  private final SimulatedOperator operator;
  private final List<String> log = new ArrayList<>();
  private List<RowSource> sources = new ArrayList<>();
  private long[] sourceWatermarks = new long[SOURCES];
  private List<SimulatedSubtask> subtasks = new ArrayList<>();
  private List<KeyGroupModel> models = new ArrayList<>();
  private final SimulatedCoordinator coordinator;
  private long processingTime;

  private Simulation(Place place, SimulatedOperator operator) {
    this.place = place;
    this.operator = operator;
    this.coordinator = new SimulatedCoordinator(place.faults(), log);
  }

  /** What happened, step by step. */
  record Run(List<String> log, Throwable failure) {}

  /** Plays {@code steps}, and lets the job end. */
  static Run run(Place place, Schedule schedule, List<Step> steps) {
    String isIncremental = String.valueOf(schedule.isIncremental());
    Place scheduled =
        new Place(
            place.device(),
            place.files(),
            place.faults(),
            Map.of(CheckpointingOptions.INCREMENTAL_CHECKPOINTS.key(), isIncremental));
    Simulation simulation = new Simulation(scheduled, schedule.operator());
    Throwable failure = null;
    try {
      simulation.play(steps, Schedule.random(schedule.seed()));
    } catch (Throwable e) { // errors too: they are shown with the schedule
      failure = e;
    }
    try {
      place.faults().clear();
      simulation.end();
    } catch (Throwable e) {
      failure = ExceptionUtils.firstOrSuppressed(e, failure);
    }
    return new Run(simulation.log, failure);
  }

  private void play(List<Step> steps, Random random) throws Exception {
    restore(null, random);
    for (Step step : steps) {
      Random numbers = new Random(step.seed());
      int failed = place.faults().failed();
      try {
        play(step, numbers);
      } catch (Exception e) {
        boolean isInjected =
            place.faults().failed() > failed
                && ExceptionUtils.findThrowable(e, GpuOutOfMemoryException.class).isPresent();
        if (!isInjected) {
          throw e;
        }
        log("memory runs out");
        failOver(numbers);
      }
    }
    place.faults().clear();
    finish(random);
  }

  private void play(Step step, Random random) throws Exception {
    switch (step.kind()) {
      case SEND -> send(random);
      case PROCESS -> process(random);
      case WATERMARK -> watermark(random);
      case PROCESSING_TIME -> processingTime(random);
      case TRIGGER -> trigger(random);
      case WRITE -> coordinator.write(random, subtasks);
      case BEGIN_WRITE -> coordinator.beginWrite(random);
      case FAIL_WRITE -> coordinator.failWrite(random);
      case ABORT -> coordinator.abort(random, subtasks);
      case NOTIFY -> notify(random);
      case FAIL_MEMORY -> {
        int requests = random.nextInt(12);
        int failures = 1 + random.nextInt(4);
        place.faults().failAfter(requests, failures);
        log("after %d requests for memory, %d fail".formatted(requests, failures));
      }
      case FAIL_OVER -> failOver(random);
      case STOP -> stop(random);
    }
  }

  private void log(String text) {
    log.add(text);
  }

  /** The key group to which Flink's {@code keyBy} assigns the key of a row. */
  static int keyGroup(List<Object> row, SimulatedOperator operator) {
    Object key = row.get(0);
    if (operator.keyColumns() > 1) {
      Tuple tuple = Tuple.newInstance(operator.keyColumns());
      for (int i = 0; i < operator.keyColumns(); i++) {
        tuple.setField(row.get(i), i);
      }
      key = tuple;
    }
    return KeyGroupRangeAssignment.assignToKeyGroup(key, SimulatedSubtask.KEY_GROUPS);
  }

  private void send(Random random) {
    int source = random.nextInt(SOURCES);
    if (subtasks.stream().anyMatch(subtask -> subtask.queued() > MAX_QUEUED)) {
      return;
    }
    List<List<Object>> rows = sources.get(source).nextRows(random);
    log("source %d sends %d rows".formatted(source, rows.size()));
    enqueue(source, rows);
  }

  private void enqueue(int source, List<List<Object>> rows) {
    for (SimulatedSubtask subtask : subtasks) {
      List<List<Object>> own =
          rows.stream()
              .filter(row -> subtask.keyGroups().contains(keyGroup(row, operator)))
              .toList();
      if (!own.isEmpty()) {
        subtask.channels().get(source).add(new Rows(own));
      }
    }
  }

  private void watermark(Random random) {
    int source = random.nextInt(SOURCES);
    sourceWatermarks[source] = sources.get(source).nextWatermark(sourceWatermarks[source], random);
    log("source %d sends watermark %d".formatted(source, sourceWatermarks[source]));
    subtasks.forEach(
        subtask -> subtask.channels().get(source).add(new WatermarkOf(sourceWatermarks[source])));
  }

  private void processingTime(Random random) throws Exception {
    // Even, so that it is never the last millisecond of a window.
    processingTime += 2L * (1 + random.nextInt(50));
    log("processing time %d".formatted(processingTime));
    for (SimulatedSubtask subtask : subtasks) {
      subtask.processingTime(processingTime, models);
    }
  }

  private void process(Random random) throws Exception {
    int subtask = random.nextInt(subtasks.size());
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      processOne(subtask, random);
    }
  }

  /** Whether there was an element. */
  private boolean processOne(int number, Random random) throws Exception {
    SimulatedSubtask subtask = subtasks.get(number);
    List<Barrier> overtaking =
        subtask.channels().stream()
            .flatMap(Deque::stream)
            .filter(element -> element instanceof Barrier barrier && barrier.overtakes())
            .map(Barrier.class::cast)
            .toList();
    if (!overtaking.isEmpty() && random.nextBoolean()) {
      overtake(number, overtaking.get(0));
      return true;
    }
    List<Integer> ready = subtask.readyChannels();
    if (ready.isEmpty()) {
      return false;
    }
    int channel = ready.get(random.nextInt(ready.size()));
    Element element = subtask.channels().get(channel).peek();
    if (element instanceof Barrier barrier && barrier.overtakes()) {
      overtake(number, barrier);
      return true;
    }
    subtask.channels().get(channel).remove();
    if (element instanceof Rows rows) {
      log("subtask %d processes %d rows".formatted(number, rows.rows().size()));
      subtask.process(rows.rows(), models);
    } else if (element instanceof WatermarkOf watermark) {
      subtask.watermark(channel, watermark.timestamp(), models);
    } else if (element instanceof Barrier barrier) {
      align(number, channel, barrier.checkpoint());
    }
    return true;
  }

  private void align(int number, int channel, SimulatedCheckpoint checkpoint) throws Exception {
    if (checkpoint.isAborted()) {
      subtasks.get(number).stopAlignment();
    } else if (subtasks.get(number).align(channel)) {
      List<List<List<Object>>> none =
          IntStream.range(0, SOURCES).mapToObj(i -> List.<List<Object>>of()).toList();
      snapshot(number, checkpoint, none);
    }
  }

  private void overtake(int number, Barrier barrier) throws Exception {
    List<List<List<Object>>> overtaken = subtasks.get(number).overtake(barrier.checkpoint());
    if (!barrier.checkpoint().isAborted()) {
      snapshot(number, barrier.checkpoint(), overtaken);
    }
  }

  private void snapshot(
      int number, SimulatedCheckpoint checkpoint, List<List<List<Object>>> overtaken)
      throws Exception {
    int rows = overtaken.stream().mapToInt(List::size).sum();
    log(
        "subtask %d: snapshot %d, whose barrier overtook %d rows"
            .formatted(number, checkpoint.id(), rows));
    SimulatedSubtask subtask = subtasks.get(number);
    SnapshotWrite write = subtask.snapshot(checkpoint.id(), models);
    List<KeyGroupModel> copies = new ArrayList<>();
    for (int i = 0; i < models.size(); i++) {
      copies.add(subtask.keyGroups().contains(i) ? models.get(i).copy() : null);
    }
    checkpoint.add(number, new Part(write, copies, subtask.watermark(), overtaken));
  }

  private void trigger(Random random) {
    if (isUnderWay(Barrier.class) || coordinator.isBusy()) {
      return;
    }
    boolean mayOvertake = !operator.needsEqualWatermarks() || !isUnderWay(WatermarkOf.class);
    boolean overtakes = random.nextBoolean() && mayOvertake;
    SimulatedCheckpoint checkpoint =
        coordinator.trigger(sources, sourceWatermarks, subtasks.size(), overtakes);
    Barrier barrier = new Barrier(checkpoint, overtakes);
    subtasks.forEach(subtask -> subtask.channels().forEach(channel -> channel.add(barrier)));
  }

  private boolean isUnderWay(Class<? extends Element> type) {
    return subtasks.stream()
        .flatMap(subtask -> subtask.channels().stream())
        .flatMap(Deque::stream)
        .anyMatch(type::isInstance);
  }

  private void notify(Random random) {
    SimulatedSubtask subtask = subtasks.get(random.nextInt(subtasks.size()));
    for (int i = 1 + random.nextInt(4); i > 0 && !subtask.notices().isEmpty(); i--) {
      subtask.notices().remove().accept(subtask);
    }
  }

  /** All tasks end without their snapshots, and begin again with the last checkpoint. */
  private void failOver(Random random) throws Exception {
    log("all subtasks fail");
    boolean cancelsFirst = random.nextBoolean();
    for (SimulatedSubtask subtask : subtasks) {
      if (cancelsFirst) {
        subtask.cancel();
      }
      subtask.close();
      subtask.cancel();
    }
    subtasks.clear();
    coordinator.cancel();
    restoreUntilItSucceeds(random);
  }

  /** All operators are closed while their snapshots run, which end later. */
  private void stop(Random random) throws Exception {
    log("all subtasks are closed");
    subtasks.forEach(SimulatedSubtask::close);
    subtasks.clear();
    coordinator.endWrites(subtasks);
    coordinator.cancel();
    restoreUntilItSucceeds(random);
  }

  private void restoreUntilItSucceeds(Random random) throws Exception {
    int failed = place.faults().failed();
    try {
      restore(coordinator.completed(), random);
    } catch (Exception e) {
      boolean isInjected =
          place.faults().failed() > failed
              && ExceptionUtils.findThrowable(e, GpuOutOfMemoryException.class).isPresent();
      if (!isInjected) {
        throw e;
      }
      log("memory runs out while state is restored");
      place.faults().clear();
      restore(coordinator.completed(), random);
    }
  }

  private void restore(SimulatedCheckpoint checkpoint, Random random) throws Exception {
    int parallelism = 1 + random.nextInt(MAX_PARALLELISM);
    OperatorSubtaskState whole =
        checkpoint == null
            ? null
            : AbstractStreamOperatorTestHarness.repackageState(checkpoint.states());
    log(
        "%d subtasks begin with checkpoint %d"
            .formatted(parallelism, whole == null ? 0 : checkpoint.id()));
    ToLongFunction<KeyGroupRange> watermark =
        checkpoint == null ? keyGroups -> Long.MIN_VALUE : checkpoint::watermark;
    List<SimulatedSubtask> opened = new ArrayList<>();
    try {
      for (int i = 0; i < parallelism; i++) {
        OperatorSubtaskState part =
            whole == null
                ? null
                : AbstractStreamOperatorTestHarness.repartitionOperatorState(
                    whole, SimulatedSubtask.KEY_GROUPS, checkpoint.parallelism(), parallelism, i);
        opened.add(
            SimulatedSubtask.open(
                place, operator, SOURCES, i, parallelism, watermark, processingTime, part));
      }
    } catch (Exception | Error e) {
      opened.forEach(SimulatedSubtask::close);
      throw e;
    }
    subtasks = opened;
    if (checkpoint == null) {
      models = Stream.generate(operator::newModel).limit(SimulatedSubtask.KEY_GROUPS).toList();
      sources = Stream.generate(operator::newSource).limit(SOURCES).toList();
      sourceWatermarks = new long[SOURCES];
    } else {
      models = checkpoint.models(SimulatedSubtask.KEY_GROUPS);
      subtasks.forEach(subtask -> subtask.restored(models));
      sources = checkpoint.sources();
      sourceWatermarks = checkpoint.sourceWatermarks();
      for (Part part : checkpoint.parts()) {
        IntStream.range(0, SOURCES).forEach(i -> enqueue(i, part.overtaken().get(i)));
      }
    }
    models.forEach(model -> model.processingTime(processingTime));
  }

  /** The input ends, and all that is under way comes to its end. */
  private void finish(Random random) throws Exception {
    log("the input ends");
    for (int i = 0; i < subtasks.size(); i++) {
      while (processOne(i, random)) {
        // Until the channels are empty.
      }
    }
    coordinator.endWrites(subtasks);
    for (int i = 0; i < subtasks.size(); i++) {
      SimulatedSubtask subtask = subtasks.get(i);
      for (int channel = 0; channel < SOURCES; channel++) {
        subtask.watermark(channel, Long.MAX_VALUE, models);
      }
      subtask.finish(models);
      while (!subtask.notices().isEmpty()) {
        subtask.notices().remove().accept(subtask);
      }
    }
  }

  private void end() throws Exception {
    for (SimulatedSubtask subtask : subtasks) {
      subtask.close();
    }
    coordinator.cancel();
  }
}
