// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.DeviceStream;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.StateSnapshot;
import io.millrace.state.row.CopiedExtents;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * The keyed states of a subtask by name: each is {@link StateTables} of a schema of its own. Used
 * by one thread, except for the metrics.
 */
final class KeyedStates implements AutoCloseable {
  /** The name of the state that every operator has, and the only one of most. */
  static final String UNNAMED = "";

  private final Map<String, StateTables> states = new LinkedHashMap<>();

  /** States without rows. */
  KeyedStates(Map<String, StateSchema> schemas, DeviceStream stream, MemoryResource memory) {
    schemas.forEach((name, schema) -> states.put(name, new StateTables(schema, stream, memory)));
  }

  /** The states in the order in which checkpoints have them. */
  Map<String, StateTables> all() {
    return Collections.unmodifiableMap(states);
  }

  /**
   * The state with a name.
   *
   * @throws IllegalArgumentException if there is none
   */
  StateTables get(String name) {
    StateTables state = states.get(name);
    if (state == null) {
      throw new IllegalArgumentException(
          "expected one of the states " + states.keySet() + ", got '" + name + "'");
    }
    return state;
  }

  /** Whether rows expire, in all states or in none. */
  boolean haveTime() {
    return states.values().stream().anyMatch(state -> state.schema().hasTime());
  }

  /** The number of rows of all states. Any thread may ask. */
  long rowCount() {
    return sum(StateTables::rowCount);
  }

  /** {@link StateTables#reservedBytes} of all states. Any thread may ask. */
  long reservedBytes() {
    return sum(StateTables::reservedBytes);
  }

  /** {@link StateTables#expiredRows} of all states. Any thread may ask. */
  long expiredRows() {
    return sum(StateTables::expiredRows);
  }

  /** How full the indexes of all states are, from 0 to 1. Any thread may ask. */
  double indexLoad() {
    long slots = sum(StateTables::indexSlots);
    return slots == 0 ? 0 : (double) rowCount() / slots;
  }

  /** {@link StateTables#copied} of all states. Any thread may ask. */
  CopiedExtents copied() {
    CopiedExtents all = CopiedExtents.NONE;
    for (StateTables state : states.values()) {
      all = all.plus(state.copied());
    }
    return all;
  }

  private long sum(ToLongFunction<StateTables> number) {
    return states.values().stream().mapToLong(number).sum();
  }

  /** The rows of all states of now; see {@link StateTables#snapshot}. */
  Snapshot snapshot() {
    Snapshot snapshot = new Snapshot(new LinkedHashMap<>());
    try {
      states.forEach((name, state) -> snapshot.states.put(name, state.snapshot()));
      return snapshot;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      failure.run(snapshot::close);
      throw e;
    }
  }

  /** The rows of states at one moment, by name. */
  record Snapshot(Map<String, StateTables.Snapshot> states) implements AutoCloseable {
    /** The tables of one state after the other, each state's by namespace. */
    List<StateSnapshot> tables() {
      List<StateSnapshot> tables = new ArrayList<>();
      states.values().forEach(state -> tables.addAll(state.tables().values()));
      return tables;
    }

    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      states.values().forEach(state -> failure.run(state::close));
      failure.rethrow();
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    states.values().forEach(state -> failure.run(state::close));
    failure.rethrow();
  }
}
