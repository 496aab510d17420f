// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.operators.aggregate.ArgumentName;
import io.millrace.operators.batch.ColumnBatch;
import java.util.List;
import java.util.Locale;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * A group aggregate; its name and uid also set the names and uids of the operators that keep the
 * values of its arguments.
 */
final class AggregateStream extends SingleOutputStreamOperator<ColumnBatch> {
  private final List<ArgumentName> arguments;
  private final List<SingleOutputStreamOperator<ColumnBatch>> operators;

  /**
   * @param operators the operator of each argument
   */
  AggregateStream(
      List<ArgumentName> arguments,
      List<SingleOutputStreamOperator<ColumnBatch>> operators,
      SingleOutputStreamOperator<ColumnBatch> aggregate) {
    super(aggregate.getExecutionEnvironment(), aggregate.getTransformation());
    this.arguments = List.copyOf(arguments);
    this.operators = List.copyOf(operators);
  }

  // The text finds the state again when the aggregates of the job are reordered.
  @Override
  public SingleOutputStreamOperator<ColumnBatch> uid(String uid) {
    for (int i = 0; i < arguments.size(); i++) {
      operators.get(i).uid(uid + arguments.get(i).uidSuffix());
    }
    return super.uid(uid);
  }

  @Override
  public SingleOutputStreamOperator<ColumnBatch> name(String name) {
    for (int i = 0; i < arguments.size(); i++) {
      String operator = arguments.get(i).operator().toLowerCase(Locale.ROOT);
      operators.get(i).name(name + " " + operator);
    }
    return super.name(name);
  }
}
