// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import java.util.List;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.streaming.api.graph.NonChainedOutput;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.tasks.StreamTask;

/**
 * The receivers of an exchange at run time. If a job is rescaled, or Flink chooses its parallelism,
 * their number may differ from the parallelism with which the job was built.
 *
 * @param subtasks the downstream operator's parallelism
 * @param keyGroups the downstream operator's maximum parallelism
 */
record ExchangeTarget(int subtasks, int keyGroups) {

  /**
   * The target of {@code operator}, which is being opened.
   *
   * @throws IllegalStateException if the operator does not have exactly one output to another task
   */
  static ExchangeTarget of(AbstractStreamOperator<?> operator) {
    StreamTask<?, ?> task = operator.getContainingTask();
    ClassLoader classLoader = task.getUserCodeClassLoader();
    List<NonChainedOutput> ofOperator =
        operator.getOperatorConfig().getOperatorNonChainedOutputs(classLoader);
    if (ofOperator.size() != 1) {
      throw new IllegalStateException(
          "an exchange needs one output to another task, but has " + ofOperator.size());
    }
    // The head's configuration lists the outputs of the whole chain in the order of their writers.
    List<NonChainedOutput> ofChain =
        task.getConfiguration().getVertexNonChainedOutputs(classLoader);
    for (int i = 0; i < ofChain.size(); i++) {
      if (ofChain.get(i).getDataSetId().equals(ofOperator.get(0).getDataSetId())) {
        ResultPartitionWriter writer = task.getEnvironment().getWriter(i);
        return new ExchangeTarget(
            writer.getNumberOfSubpartitions(), writer.getNumTargetKeyGroups());
      }
    }
    throw new IllegalStateException("the exchange's output is not one of its task's");
  }
}
