package io.millrace.operators.batch;

import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

/**
 * Makes the operator of each subtask with its constructor. The operator is chained wherever it can
 * be.
 *
 * @param <IN> what the operator takes
 * @param <OUT> what the operator emits
 */
@PublicEvolving
public final class OperatorFactory<IN, OUT> extends AbstractStreamOperatorFactory<OUT>
    implements OneInputStreamOperatorFactory<IN, OUT> {
  private static final long serialVersionUID = 1L;

  private final Class<? extends OneInputStreamOperator<IN, OUT>> operatorClass;
  private final Constructor<IN, OUT> constructor;

  /** Makes one operator; serialized with the job. */
  @FunctionalInterface
  public interface Constructor<IN, OUT> extends Serializable {
    OneInputStreamOperator<IN, OUT> construct(StreamOperatorParameters<OUT> parameters);
  }

  public OperatorFactory(
      Class<? extends OneInputStreamOperator<IN, OUT>> operatorClass,
      Constructor<IN, OUT> constructor) {
    this.operatorClass = operatorClass;
    this.constructor = constructor;
    setChainingStrategy(ChainingStrategy.ALWAYS);
  }

  @Override
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as the interface has it
  public <T extends StreamOperator<OUT>> T createStreamOperator(
      StreamOperatorParameters<OUT> parameters) {
    return (T) constructor.construct(parameters);
  }

  @Override
  @SuppressWarnings("rawtypes") // as the interface has it
  public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
    return operatorClass;
  }
}
