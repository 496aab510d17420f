// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.calc.Calc;
import io.millrace.column.Column;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.expression.Expression;
import io.millrace.format.RecordFilter;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Evaluates the condition of a filter over the values of fixed width that were read. Used by one
 * thread; closed once.
 */
final class RecordCondition implements AutoCloseable {
  private final Schema schema;
  private final Schema columnsRead;
  private final Calc calc;

  /**
   * @param schema of the records
   * @throws IllegalArgumentException if {@link RecordFilter#unsupported} says why the rows cannot
   *     be filtered
   */
  RecordCondition(Schema schema, RecordFilter filter) {
    filter
        .unsupported(schema)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException("records cannot be filtered: " + why);
            });
    this.schema = schema;
    this.columnsRead = schema.select(filter.columnsRead(schema));
    // NULL is as FALSE.
    Expression kept = filter.condition().then(true, false);
    this.calc =
        Calc.of(
            columnsRead, Optional.empty(), List.of(kept.as("kept")), filter.settings().context());
  }

  /**
   * Whether the rows fulfil the condition, BOOLEAN NOT NULL; of a record that is not a row any
   * value. Enqueued, as {@link Calc#apply}.
   *
   * @param columns which were parsed, and are not taken
   * @return the caller's
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  Column evaluate(RecordColumns columns, DeviceStream stream, MemoryResource memory) {
    try (Table input = share(columns);
        Table kept = calc.apply(input, stream, memory)) {
      return kept.column(0).share();
    }
  }

  private Table share(RecordColumns columns) {
    List<Column> shared = new ArrayList<>();
    try {
      columnsRead.names().forEach(name -> shared.add(columns.share(schema.indexOf(name))));
      return new Table(columnsRead, shared, columns.rows());
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      shared.forEach(column -> failure.run(column::close));
      throw e;
    }
  }

  /** Frees the kernels; their use on the stream has completed. */
  @Override
  public void close() {
    calc.close();
  }
}
