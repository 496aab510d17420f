// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;

/**
 * What rows that are made of batches need: that the operators that made batches of rows, however
 * far up the stream, keep the event times of the rows. Sent while a job is put together; where
 * nobody sends it, nothing is kept.
 */
final class EventTimeRequest {
  private final Set<Transformation<?>> asked = Collections.newSetFromMap(new IdentityHashMap<>());

  private EventTimeRequest() {}

  /** Asks all operators that {@code batches} come from. */
  static void send(Transformation<ColumnBatch> batches) {
    new EventTimeRequest().ask(batches);
  }

  private void ask(Transformation<?> batches) {
    if (batches.getOutputType().getTypeClass() != ColumnBatch.class || !asked.add(batches)) {
      return;
    }
    if (batches instanceof OneInputTransformation<?, ?> operator
        && operator.getOperatorFactory() instanceof OperatorFactory<?, ?> factory
        && factory.constructor() instanceof BatchingOperator.Constructor<?> batching) {
      batching.keepEventTimes();
    }
    batches.getInputs().forEach(this::ask);
  }
}
