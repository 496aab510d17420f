// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.kernel.hash.HashFunction;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;

/**
 * Makes the operator of each subtask. Flink chains the operator to its input wherever it can.
 *
 * @param <IN> the type of the operator's input
 * @param <OUT> the type of the operator's output
 */
@PublicEvolving
public final class OperatorFactory<IN, OUT> extends AbstractStreamOperatorFactory<OUT>
    implements OneInputStreamOperatorFactory<IN, OUT> {
  private static final long serialVersionUID = 1L;

  private final Class<? extends OneInputStreamOperator<IN, OUT>> operatorClass;
  private final Constructor<IN, OUT> constructor;
  private final HashFunction keyHash;

  /** Makes one operator; serialized with the job. */
  @FunctionalInterface
  public interface Constructor<IN, OUT> extends Serializable {
    OneInputStreamOperator<IN, OUT> construct(StreamOperatorParameters<OUT> parameters);
  }

  public OperatorFactory(
      Class<? extends OneInputStreamOperator<IN, OUT>> operatorClass,
      Constructor<IN, OUT> constructor) {
    this(operatorClass, constructor, HashFunction.FLINK_JAVA);
  }

  private OperatorFactory(
      Class<? extends OneInputStreamOperator<IN, OUT>> operatorClass,
      Constructor<IN, OUT> constructor,
      HashFunction keyHash) {
    this.operatorClass = operatorClass;
    this.constructor = constructor;
    this.keyHash = keyHash;
    setChainingStrategy(ChainingStrategy.ALWAYS);
  }

  public Constructor<IN, OUT> constructor() {
    return constructor;
  }

  /**
   * A factory of the same operators behind an exchange with another hash of keys than {@link
   * HashFunction#FLINK_JAVA}.
   */
  public OperatorFactory<IN, OUT> withKeyHash(HashFunction newKeyHash) {
    return new OperatorFactory<>(operatorClass, constructor, newKeyHash);
  }

  /**
   * Appends the operator to {@code input} and declares a share of the slot's managed memory, which
   * accounts for host memory that holds the operator's spilled buffers.
   *
   * @param name the operator's name in the user interface, metrics and logs
   * @param type the type of the output
   * @throws IllegalArgumentException if {@link MemoryOptions#MANAGED_WEIGHT} of the job is below 1
   */
  public SingleOutputStreamOperator<OUT> appendTo(
      DataStream<IN> input, String name, TypeInformation<OUT> type) {
    SingleOutputStreamOperator<OUT> operator = input.transform(name, type, this);
    declareMemory(operator.getTransformation(), input.getExecutionEnvironment().getConfiguration());
    return operator;
  }

  /**
   * As {@link #appendTo(DataStream, String, TypeInformation)}, with the parallelism of {@code
   * input} instead of the environment's, so that rows stay in their order.
   *
   * @throws IllegalArgumentException as the other method
   */
  public SingleOutputStreamOperator<OUT> appendWithParallelism(
      DataStream<IN> input, String name, TypeInformation<OUT> type) {
    SingleOutputStreamOperator<OUT> operator = appendTo(input, name, type);
    Transformation<IN> before = input.getTransformation();
    operator
        .getTransformation()
        .setParallelism(before.getParallelism(), before.isParallelismConfigured());
    return operator;
  }

  /**
   * As {@link #appendTo(DataStream, String, TypeInformation)}, but without an environment, as Flink
   * SQL's planner builds jobs: the operator has the parallelism of {@code input}.
   *
   * @param options of the job
   */
  public OneInputTransformation<IN, OUT> appendTo(
      Transformation<IN> input, String name, TypeInformation<OUT> type, ReadableConfig options) {
    OneInputTransformation<IN, OUT> operator =
        new OneInputTransformation<>(
            input, name, this, type, input.getParallelism(), input.isParallelismConfigured());
    declareMemory(operator, options);
    return operator;
  }

  private static void declareMemory(Transformation<?> operator, ReadableConfig options) {
    operator.declareManagedMemoryUseCaseAtOperatorScope(
        ManagedMemoryUseCase.OPERATOR, MemoryOptions.managedWeight(options));
  }

  @Override
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as the interface has it
  public <T extends StreamOperator<OUT>> T createStreamOperator(
      StreamOperatorParameters<OUT> parameters) {
    OneInputStreamOperator<IN, OUT> operator = constructor.construct(parameters);
    if (operator instanceof KeyedOperator keyed) {
      keyed.setKeyHash(keyHash);
    }
    return (T) operator;
  }

  @Override
  @SuppressWarnings("rawtypes") // as the interface has it
  public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
    return operatorClass;
  }
}
