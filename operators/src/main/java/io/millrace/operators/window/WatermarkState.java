// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.StateInitializationContext;

/** The watermark or the processing time up to which windows have fired, in a checkpoint. */
final class WatermarkState {
  private final ListState<Long> state;
  private final long restored;

  WatermarkState(StateInitializationContext context) throws Exception {
    state =
        context
            .getOperatorStateStore()
            .getUnionListState(new ListStateDescriptor<>("watermark", LongSerializer.INSTANCE));
    long least = Long.MAX_VALUE;
    if (context.isRestored()) {
      for (long watermark : state.get()) {
        least = Math.min(least, watermark);
      }
    }
    restored = least == Long.MAX_VALUE ? Long.MIN_VALUE : least;
  }

  /** As Flink's window operator: the watermark that all subtasks had reached. */
  long restored() {
    return restored;
  }

  /** Sets the value for the next checkpoint. */
  void update(long watermark) throws Exception {
    state.update(List.of(watermark));
  }
}
