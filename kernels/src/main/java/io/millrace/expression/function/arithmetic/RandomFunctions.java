// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.arithmetic;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.function.numeric.Arithmetic;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BatchValue.Property;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.RowNumber;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.Status;
import java.util.List;
import java.util.UUID;

/** RAND, RAND_INTEGER and UUID. */
@Internal
public final class RandomFunctions {
  // An odd number whose multiples are far apart.
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final String SEQUENCE =
      " The same seed gives the numbers of java.util.Random in the order of the rows that a subtask"
          + " reads; without a seed they differ in each subtask and after each restart.";
  private static final String DIFFERENCES =
      "Flink draws a number for each row that a filter keeps, Millrace for each row that the filter"
          + " reads.";

  private RandomFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(rand(), randInteger(), uuid());
  }

  private static FunctionDefinition rand() {
    return FunctionDefinition.named("RAND")
        .family(FunctionFamily.ARITHMETIC)
        .signatures(Signature.none(), Signature.of(DataType.INT32))
        .description("A random number from 0 to 1, without 1." + SEQUENCE)
        .differences(DIFFERENCES)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 0, 1);
              return BoundFunction.named("RAND")
                  .host(
                      HostFunction.ofRow(
                          (operands, result, row) ->
                              result.doubles()[row] =
                                  RandomSequence.doubleAt(
                                      operands[0].longs()[row], operands[1].longs()[row])))
                  .device("random_double")
                  .call(
                      List.of(seed(arguments, 1, context), index(arguments, 1, context)),
                      DataType.FLOAT64);
            });
  }

  private static FunctionDefinition randInteger() {
    return FunctionDefinition.named("RAND_INTEGER")
        .family(FunctionFamily.ARITHMETIC)
        .signatures(Signature.of(DataType.INT32), Signature.of(DataType.INT32, DataType.INT32))
        .description(
            "A random INT from 0 to the last argument, without it; a row fails unless it is"
                + " positive. The first of two arguments is the seed."
                + SEQUENCE)
        .differences(
            DIFFERENCES
                + " Where Flink draws several numbers for a row, which is rare unless the bound is"
                + " large, later rows have other numbers.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 2);
              TypedExpression bound = arguments.get(arguments.size() - 1);
              return BoundFunction.named("RAND_INTEGER")
                  .failing()
                  .host(
                      HostFunction.ofFallibleRow(
                          (operands, result, row, rows) -> {
                            int limit = (int) operands[2].longs()[row];
                            if (limit <= 0) {
                              rows.fail(row, Status.INVALID_ARGUMENT);
                            } else {
                              result.longs()[row] =
                                  RandomSequence.intAt(
                                      operands[0].longs()[row], operands[1].longs()[row], limit);
                            }
                          }))
                  .device("random_integer")
                  .call(
                      List.of(
                          seed(arguments, 2, context),
                          index(arguments, 2, context),
                          integer(bound, DataType.INT32, context)),
                      DataType.INT32);
            });
  }

  private static TypedExpression integer(
      TypedExpression argument, DataType type, BindingContext context) {
    if (!argument.type().isInteger()) {
      throw Arguments.wrongType(argument);
    }
    return Coercion.cast(argument, type, context);
  }

  /**
   * @param withSeed the number of arguments if the first one is the seed
   */
  private static TypedExpression seed(
      List<TypedExpression> arguments, int withSeed, BindingContext context) {
    if (arguments.size() == withSeed) {
      return integer(arguments.get(0), DataType.INT64, context);
    }
    // Calls without a seed are independent of each other.
    return Arithmetic.ADD.of(
        context.batchValue(Property.RANDOM_SEED, DataType.INT64, false),
        new TypedExpression.Literal(GOLDEN * context.nextCall(), DataType.INT64));
  }

  /** The number of the row if all rows have the same seed; else each row is a first one. */
  private static TypedExpression index(
      List<TypedExpression> arguments, int withSeed, BindingContext context) {
    if (arguments.size() == withSeed && !(arguments.get(0) instanceof TypedExpression.Literal)) {
      return new TypedExpression.Literal(0L, DataType.INT64);
    }
    return Arithmetic.ADD.of(
        context.batchValue(Property.FIRST_ROW, DataType.INT64, false),
        Coercion.cast(new RowNumber(), DataType.INT64, context));
  }

  private static FunctionDefinition uuid() {
    return FunctionDefinition.named("UUID")
        .family(FunctionFamily.STRING)
        .signatures(Signature.none())
        .description("A random UUID of version 4, another one for each row and call.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 0, 0);
              // Reads the batch, since it is no value of the columns alone.
              TypedExpression seed =
                  context.batchValue(Property.RANDOM_SEED, DataType.INT64, false);
              return BoundFunction.named("UUID")
                  .parameters(context.nextCall())
                  .hostOnly("random bits of the operating system")
                  .host(
                      HostFunction.ofRow(
                          (operands, result, row) ->
                              result.setString(row, UUID.randomUUID().toString())))
                  .sql(operands -> "UUID()")
                  .call(List.of(seed), DataType.STRING);
            });
  }
}
