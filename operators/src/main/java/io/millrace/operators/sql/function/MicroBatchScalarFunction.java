// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.function;

import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.table.catalog.DataTypeFactory;
import org.apache.flink.table.functions.AsyncScalarFunction;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.inference.StaticArgument;
import org.apache.flink.table.types.inference.TypeInference;
import org.apache.flink.table.types.inference.TypeStrategies;
import org.apache.flink.types.Row;

/**
 * An expression of Millrace as a function of Flink SQL that computes micro-batches of rows on the
 * device, in plans whose nodes are all Flink's: where Millrace's planner hook cannot be installed.
 * A subclass says what it computes, and is registered by {@code CREATE FUNCTION}:
 *
 * <pre>{@code
 * public final class PriceInEuros extends MicroBatchScalarFunction {
 *   public PriceInEuros() {
 *     super("price BIGINT, currency STRING", "IF(currency = 'USD', price * 0.908, price)");
 *   }
 * }
 * }</pre>
 *
 * <p>Flink keeps as many rows waiting as {@code table.exec.async-scalar.max-concurrent-operations}
 * says, and no batch has more: its default of 10 is far too small for a device. A batch is what
 * waits when the batch before it is done, so that no row waits for others to come. Flink keeps rows
 * that wait in its checkpoints, retries rows that fail, and has the option for a time-out.
 *
 * <p>A row that fails does not fail the others of its batch, which is computed again by halves:
 * many rows that fail are slow. Each subtask evaluates in a thread of its own. Options of the
 * device and its memory are read from Flink's configuration file, not from the job, and batches
 * cannot be spilled to disk.
 */
@PublicEvolving
public abstract class MicroBatchScalarFunction extends AsyncScalarFunction {
  private static final long serialVersionUID = 1L;

  private final String columns;
  private final String expression;
  private transient MicroBatchThread thread;
  private transient boolean hasOneArray;

  /**
   * @param arguments the names and types of the arguments, as columns in {@code CREATE TABLE}
   * @param expression of the arguments, in Millrace's SQL
   */
  protected MicroBatchScalarFunction(String arguments, String expression) {
    this.columns = arguments;
    this.expression = expression;
  }

  /** Called by Flink: asks for a result. */
  public final void eval(CompletableFuture<Object> result, Object... values) {
    // Java passes an only argument that is an array in place of the array of arguments.
    thread.add(hasOneArray ? Row.of((Object) values) : Row.of(values), result);
  }

  @Override
  public final void open(FunctionContext context) throws Exception {
    MicroBatchExpressions expressions = expressions();
    Schema arguments = expressions.columns();
    hasOneArray =
        arguments.size() == 1
            && arguments.field(0).type().id() == TypeId.LIST
            && !arguments.field(0).type().isMap();
    thread = new MicroBatchThread(expressions);
  }

  @Override
  public final void close() throws Exception {
    if (thread != null) {
      thread.close();
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws io.millrace.operators.sql.SqlTextException if the arguments or the expression are
   *     malformed
   * @throws IllegalArgumentException if there is more than one expression, or it depends on more
   *     than the arguments, such as the current time
   */
  @Override
  public final TypeInference getTypeInference(DataTypeFactory typeFactory) {
    MicroBatchExpressions expressions = expressions();
    List<StaticArgument> arguments =
        DataType.getFields(MicroBatchExpressions.rowType(expressions.columns())).stream()
            .map(field -> StaticArgument.scalar(field.getName(), field.getDataType(), false))
            .toList();
    DataType result = MicroBatchExpressions.rowType(expressions.results()).getChildren().get(0);
    return TypeInference.newBuilder()
        .staticArguments(arguments)
        .outputTypeStrategy(TypeStrategies.explicit(result))
        .build();
  }

  private MicroBatchExpressions expressions() {
    MicroBatchExpressions expressions = MicroBatchExpressions.parse(columns, expression);
    Schema results = expressions.results();
    if (results.size() != 1) {
      throw new IllegalArgumentException(
          "expected one expression, got " + results.size() + ": " + expression);
    }
    return expressions;
  }
}
