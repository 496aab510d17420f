// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import io.millrace.operators.sql.table.DeviceFunction;

/** {@link CountChar}, also in CUDA. */
public final class CountCharOnDevice extends CountChar implements DeviceFunction {
  private static final long serialVersionUID = 1L;

  @Override
  public String deviceFunction() {
    return "count_char";
  }

  @Override
  public String ptx() {
    return DeviceFunction.resource(CountCharOnDevice.class, "count_char.ptx");
  }

  @Override
  public boolean nullForNull() {
    return true;
  }
}
