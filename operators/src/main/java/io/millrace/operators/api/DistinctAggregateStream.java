// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.operators.batch.ColumnBatch;
import java.util.List;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * A group aggregate; its name and uid also set the names and uids of the operators that keep the
 * different values of its DISTINCT arguments.
 */
final class DistinctAggregateStream extends SingleOutputStreamOperator<ColumnBatch> {
  private final List<String> texts;
  private final List<SingleOutputStreamOperator<ColumnBatch>> distincts;

  /**
   * @param texts of the arguments
   * @param distincts the operator of each argument
   */
  DistinctAggregateStream(
      List<String> texts,
      List<SingleOutputStreamOperator<ColumnBatch>> distincts,
      SingleOutputStreamOperator<ColumnBatch> aggregate) {
    super(aggregate.getExecutionEnvironment(), aggregate.getTransformation());
    this.texts = List.copyOf(texts);
    this.distincts = List.copyOf(distincts);
  }

  // The text finds the state again when the aggregates of the job are reordered.
  @Override
  public SingleOutputStreamOperator<ColumnBatch> uid(String uid) {
    for (int i = 0; i < texts.size(); i++) {
      distincts.get(i).uid(uid + "-distinct-" + texts.get(i));
    }
    return super.uid(uid);
  }

  @Override
  public SingleOutputStreamOperator<ColumnBatch> name(String name) {
    distincts.forEach(distinct -> distinct.name(name + " distinct"));
    return super.name(name);
  }
}
