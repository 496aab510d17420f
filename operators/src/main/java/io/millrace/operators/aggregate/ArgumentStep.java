// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import org.apache.flink.annotation.Internal;

/** What is kept of the arguments of aggregates in front of them. */
@Internal
public sealed interface ArgumentStep extends AutoCloseable permits ValuesStep, FunctionStep {
  ArgumentName name();

  @Override
  void close();
}
