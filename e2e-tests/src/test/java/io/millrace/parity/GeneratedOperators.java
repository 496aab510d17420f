// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.IOUtils;

/** The chain of operators between a stream's source and its end, run in the calling thread. */
final class GeneratedOperators implements AutoCloseable {
  private final List<OneInputStreamOperatorTestHarness<RowData, RowData>> chain;

  private GeneratedOperators(List<OneInputStreamOperatorTestHarness<RowData, RowData>> chain) {
    this.chain = chain;
  }

  /** The opened operators that {@code last} and what is before it stand for, up to the source. */
  static GeneratedOperators of(Transformation<RowData> last) throws Exception {
    Deque<OneInputTransformation<RowData, RowData>> transformations = new ArrayDeque<>();
    Transformation<?> next = last;
    while (!next.getInputs().isEmpty()) {
      transformations.addFirst(ofRows(next));
      next = next.getInputs().get(0);
    }
    List<OneInputStreamOperatorTestHarness<RowData, RowData>> chain = new ArrayList<>();
    for (OneInputTransformation<RowData, RowData> transformation : transformations) {
      chain.add(open(transformation));
    }
    return new GeneratedOperators(chain);
  }

  @SuppressWarnings("unchecked")
  private static OneInputTransformation<RowData, RowData> ofRows(Transformation<?> next) {
    return (OneInputTransformation<RowData, RowData>) next;
  }

  private static OneInputStreamOperatorTestHarness<RowData, RowData> open(
      OneInputTransformation<RowData, RowData> transformation) throws Exception {
    OneInputStreamOperatorTestHarness<RowData, RowData> harness =
        new OneInputStreamOperatorTestHarness<>(transformation.getOperatorFactory(), 1, 1, 0);
    harness.setup(serializer(transformation.getOutputType()));
    harness.open();
    return harness;
  }

  private static TypeSerializer<RowData> serializer(TypeInformation<RowData> type) {
    return type.createSerializer(new SerializerConfigImpl());
  }

  /**
   * The row that the chain makes of {@code row}.
   *
   * @throws Exception what the generated code throws
   */
  RowData process(RowData row) throws Exception {
    RowData current = row;
    for (OneInputStreamOperatorTestHarness<RowData, RowData> harness : chain) {
      harness.getOutput().clear();
      harness.processElement(new StreamRecord<>(current));
      current = harness.extractOutputValues().get(0);
    }
    return current;
  }

  @Override
  public void close() {
    IOUtils.closeAllQuietly(chain);
  }
}
