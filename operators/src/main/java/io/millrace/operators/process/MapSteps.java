// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The steps of a map: an entry is a row of a state table with the keys of the stream and of the map
 * as its key, the last values, and whether it is in the map.
 *
 * @param keys the columns of both keys
 * @param groups of tables that number the entries that are asked for
 * @param state of the entries
 * @param values of {@link StateSchema#changes} of {@code state}: {@link MapStateSchema#found}
 * @param entries of these columns, and {@link #OLDEST} if rows expire: the keys and the values of
 *     the entries that are in the map
 * @param batchKeys of these columns: the key columns of the tables that number the keys of a batch
 * @param requested of the same columns, the number of each entry's key in the batch, and {@link
 *     #IS_REQUESTED}: {@link MapStateSchema#entries} of the keys that are asked for
 * @param updates of the keys, the values, and whether entries are put: what {@code state} is
 *     updated with
 */
record MapSteps(
    MapStateSchema map,
    Schema keys,
    StateSchema groups,
    StateSchema state,
    Calc values,
    Calc entries,
    Calc batchKeys,
    Calc requested,
    Calc updates)
    implements AutoCloseable {
  /** The oldest time of rows that have not expired. */
  static final Field OLDEST = new Field("$oldest", DataType.INT64, false);

  /** Whether the entries of a key are asked for. */
  static final Field IS_REQUESTED = new Field("$is_requested", DataType.BOOL, false);

  /** The accumulator that is false for an entry that was removed. */
  static final String IS_ENTRY = "$IS_ENTRY";

  /** The columns that entries are put or removed with. */
  Schema changes() {
    List<Field> fields = new ArrayList<>(keys.fields());
    fields.addAll(map.values().fields());
    fields.add(new Field(MapStateSchema.IS_PUT, DataType.BOOL, false));
    return new Schema(fields);
  }

  /** Resolves the steps of a map. */
  static final class Builder {
    private final MapStateSchema map;
    private final Schema streamKeys;
    private final List<Expression> batchKeys;
    private final StateTtl stateTtl;
    private final List<Calc> calcs = new ArrayList<>();

    /**
     * @param streamKeys the columns of the stream's key
     * @param batchKeys of these: the key columns of the tables that number the keys of a batch
     * @param stateTtl of the entries
     */
    Builder(MapStateSchema map, Schema streamKeys, List<Expression> batchKeys, StateTtl stateTtl) {
      this.map = map;
      this.streamKeys = streamKeys;
      this.batchKeys = batchKeys;
      this.stateTtl = stateTtl;
    }

    /**
     * The steps, which the caller closes.
     *
     * @throws ExpressionException if the columns of the map cannot be kept
     */
    MapSteps build() {
      try {
        return steps();
      } catch (IllegalArgumentException e) {
        closeAll(e);
        throw new ExpressionException("'" + map.name() + "': " + e.getMessage());
      } catch (RuntimeException | Error e) {
        closeAll(e);
        throw e;
      }
    }

    private void closeAll(Throwable reason) {
      FirstFailure failure = new FirstFailure();
      failure.add(reason);
      calcs.forEach(calc -> failure.run(calc::close));
    }

    private MapSteps steps() {
      LastValues last = new LastValues(map.values());
      last.check("value column");
      Schema keys = MapStateSchema.joined(streamKeys.fields(), map.keys().fields());
      List<Integer> keyPositions = IntStream.range(0, keys.size()).boxed().toList();
      StateSchema groups =
          new StateSchema(
              keys, keyPositions, List.of(Accumulator.countRows("$rows")), StateSchema.NO_KINDS);
      Schema entries = MapStateSchema.joined(keys.fields(), map.values().fields());
      Expression isPut = Expressions.col(MapStateSchema.IS_PUT);
      Calc updates =
          calc(
              MapStateSchema.joined(
                  entries.fields(),
                  List.of(new Field(MapStateSchema.IS_PUT, DataType.BOOL, false))),
              Stream.of(ProcessPlan.columns(keys.names()), last.updates(isPut), List.of(isPut)));
      StateSchema state =
          new StateSchema(
              updates.outputSchema(),
              keyPositions,
              accumulators(last, keys.size()),
              StateSchema.NO_KINDS);
      Calc present = entries(state, keys, last);
      Schema numbered =
          MapStateSchema.joined(entries.fields(), List.of(MapStateSchema.KEY_FIELD, IS_REQUESTED));
      return new MapSteps(
          map,
          keys,
          groups,
          state,
          calc(
              state.changes(),
              Stream.of(
                  last.values(), List.of(Expressions.col(IS_ENTRY).as(MapStateSchema.IS_PRESENT)))),
          present,
          calc(entries, Stream.of(batchKeys)),
          calc(
              numbered,
              Optional.of(Expressions.col(IS_REQUESTED.name())),
              ProcessPlan.columns(map.entries().names())),
          updates);
    }

    private List<Accumulator> accumulators(LastValues last, int keyCount) {
      List<Accumulator> accumulators = new ArrayList<>();
      if (!stateTtl.isNone()) {
        accumulators.add(stateTtl.updateTime());
      }
      accumulators.addAll(last.accumulators(keyCount));
      accumulators.add(
          new Accumulator(IS_ENTRY, Function.LAST, keyCount + 2 * map.values().size()));
      return accumulators;
    }

    private Calc entries(StateSchema state, Schema keys, LastValues last) {
      List<Expression> columns = ProcessPlan.columns(keys.names());
      columns.addAll(last.values());
      List<Field> fields = new ArrayList<>(state.changes().fields());
      Expression isEntry = Expressions.col(IS_ENTRY);
      if (!stateTtl.isNone()) {
        fields.add(OLDEST);
        Expression oldest = Expressions.col(OLDEST.name());
        isEntry = isEntry.and(Expressions.col(stateTtl.updateTime().name()).ge(oldest));
      }
      return calc(new Schema(fields), Optional.of(isEntry), columns);
    }

    private Calc calc(Schema schema, Stream<List<Expression>> columns) {
      return calc(schema, Optional.empty(), columns.flatMap(List::stream).toList());
    }

    private Calc calc(Schema schema, Optional<Expression> condition, List<Expression> columns) {
      Calc calc = Calc.of(schema, condition, columns, ExpressionSettings.DEFAULT.context());
      calcs.add(calc);
      return calc;
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    List.of(values, entries, batchKeys, requested, updates)
        .forEach(calc -> failure.run(calc::close));
    failure.rethrow();
  }
}
