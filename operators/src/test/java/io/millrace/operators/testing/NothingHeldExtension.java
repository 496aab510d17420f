// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.Device;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test that ends with a live batch, or with device, spilled or staging memory held by
 * operators. Register it on the class, so that it runs after the test has closed its own resources:
 *
 * <pre>{@code @ExtendWith(NothingHeldExtension.class)}</pre>
 */
public final class NothingHeldExtension implements AfterEachCallback {
  @Override
  public void afterEach(ExtensionContext context) {
    if (context.getExecutionException().isEmpty()) {
      Device device = Device.current();
      assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
      assertThat(DeviceContext.heldBytes(device)).as("bytes of device memory held").isZero();
      assertThat(DeviceContext.spilledBytes(device)).as("bytes of spilled memory held").isZero();
      assertThat(DeviceContext.reservedBytes(device)).as("bytes that pools kept").isZero();
      assertThat(device.stagingPool().heldBytes()).as("bytes of staging memory held").isZero();
    }
  }
}
