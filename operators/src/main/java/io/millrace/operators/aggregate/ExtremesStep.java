// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.column.Schema;
import io.millrace.memory.FirstFailure;
import io.millrace.state.row.StateSchema;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.annotation.Internal;

/**
 * The smallest and the largest value of an argument. <i>Values</i> are rows with the key and a
 * column for each of MIN and MAX, or for one of them.
 *
 * @param state the number of rows of each key and value
 * @param results the columns of each of MIN and MAX in rows of {@code chosen}
 * @param chosen the smallest and the largest of values, by key, and how many there are
 * @param extremes those of all values of the state, by key, and whether there are any
 * @param counted tables whose rows are keys of {@code state}
 * @param wanted tables whose rows are keys of the aggregates
 * @param came of changes of {@code state}: values that are there now; null for one that is not
 * @param current of {@code extremes}: values
 * @param candidates the columns of {@code chosen}, for each of MIN and MAX the number of rows with
 *     its value, and the columns of {@code extremes} before
 * @param stayed of {@code candidates}: the input of {@code extremes} for keys whose candidates all
 *     have rows, and differ from the extremes before unless values expire
 * @param gone of {@code candidates}: values of the other keys; null for one that has no rows
 * @param present of {@code state}: values that have rows
 * @param found of {@code state}, the oldest time that lives if values expire, and the row of each
 *     key in {@code wanted}: likewise, of wanted keys, without values that have expired
 * @param updates of {@code chosen}: the input of {@code extremes}
 * @param addedRows of changes of {@code extremes}: the rows for the aggregates
 */
@Internal
public record ExtremesStep(
    ArgumentName name,
    StateSchema state,
    List<String> results,
    StateSchema chosen,
    StateSchema extremes,
    StateSchema counted,
    StateSchema wanted,
    Calc came,
    Calc current,
    Schema candidates,
    Calc stayed,
    Calc gone,
    Calc present,
    Calc found,
    Calc updates,
    Calc addedRows)
    implements ValuesStep {
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    Stream.of(came, current, stayed, gone, present, found, updates, addedRows)
        .forEach(calc -> failure.run(calc::close));
    failure.rethrow();
  }
}
