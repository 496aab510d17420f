// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import java.io.IOException;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * The type of a stream of Arrow roots. The operators of a chain pass roots on by reference. The
 * operator that makes a root closes it after it has emitted the root; an operator that receives a
 * root copies what it keeps. Roots cannot be sent over the network, batches can: all operators on
 * roots must be in the chain that makes the roots.
 */
@PublicEvolving
public final class ArrowTypeInformation extends OpaqueTypeInformation<VectorSchemaRoot> {
  public static final ArrowTypeInformation INSTANCE = new ArrowTypeInformation();

  private static final long serialVersionUID = 1L;

  private ArrowTypeInformation() {
    super(VectorSchemaRoot.class);
  }

  @Override
  public TypeSerializer<VectorSchemaRoot> createSerializer(SerializerConfig config) {
    return Serializer.INSTANCE;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ArrowTypeInformation;
  }

  @Override
  public int hashCode() {
    return ArrowTypeInformation.class.hashCode();
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof ArrowTypeInformation;
  }

  @Override
  public String toString() {
    return "VectorSchemaRoot";
  }

  private Object readResolve() {
    return INSTANCE;
  }

  /** Copies a root by returning the same reference. Serialization throws an IOException. */
  static final class Serializer extends TypeSerializerSingleton<VectorSchemaRoot> {
    static final Serializer INSTANCE = new Serializer();

    private static final long serialVersionUID = 1L;

    @Override
    public boolean isImmutableType() {
      return true;
    }

    @Override
    public VectorSchemaRoot createInstance() {
      return null;
    }

    @Override
    public VectorSchemaRoot copy(VectorSchemaRoot from) {
      return from;
    }

    @Override
    public VectorSchemaRoot copy(VectorSchemaRoot from, VectorSchemaRoot reuse) {
      return from;
    }

    @Override
    public int getLength() {
      return -1;
    }

    @Override
    public void serialize(VectorSchemaRoot root, DataOutputView target) throws IOException {
      throw refused();
    }

    @Override
    public VectorSchemaRoot deserialize(DataInputView source) throws IOException {
      throw refused();
    }

    @Override
    public VectorSchemaRoot deserialize(VectorSchemaRoot reuse, DataInputView source)
        throws IOException {
      throw refused();
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
      throw refused();
    }

    private static IOException refused() {
      return new IOException(
          "Arrow roots cannot be sent over the network: put the operators that use them into the"
              + " chain that makes them, with the same parallelism");
    }

    @Override
    public TypeSerializerSnapshot<VectorSchemaRoot> snapshotConfiguration() {
      return new Snapshot();
    }
  }

  /** Empty: the serializer has no parameters. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<VectorSchemaRoot> {
    public Snapshot() {
      super(() -> Serializer.INSTANCE);
    }
  }
}
