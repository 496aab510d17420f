// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import io.millrace.operators.simulator.SimulatedOperator.KeyGroupModel;
import io.millrace.operators.state.StateTtl;

/** A model that forgets keys by a clock. */
abstract class ForgetfulModel implements KeyGroupModel {
  final TtlClock clock;

  ForgetfulModel(StateTtl stateTtl) {
    clock = new TtlClock(stateTtl);
  }

  @Override
  public void processingTime(long timestamp) {
    clock.processingTime(timestamp);
  }

  @Override
  public void watermark(long timestamp) {
    clock.watermark(timestamp);
  }

  @Override
  public void restored(long watermark) {
    clock.watermark(watermark);
  }
}
