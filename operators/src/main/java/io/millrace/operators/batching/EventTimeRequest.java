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
 * Asks the operators that make batches of rows, anywhere upstream, to keep the event times of the
 * rows. Sent while a job is built, if batches become rows again; otherwise operators do not keep
 * the event times of rows.
 */
final class EventTimeRequest {
  private final Set<Transformation<?>> asked = Collections.newSetFromMap(new IdentityHashMap<>());

  private EventTimeRequest() {}

  /** Asks all operators upstream of {@code batches}. */
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
