// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The type information of a class that has one serializer and no fields Flink looks into. */
@Internal
public final class ImmutableTypeInformation<T> extends OpaqueTypeInformation<T> {
  private static final long serialVersionUID = 1L;

  private final TypeSerializer<T> serializer;

  public ImmutableTypeInformation(Class<T> type, TypeSerializer<T> serializer) {
    super(type);
    this.serializer = serializer;
  }

  @Override
  public TypeSerializer<T> createSerializer(SerializerConfig config) {
    return serializer;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof ImmutableTypeInformation;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ImmutableTypeInformation<?> information
        && getTypeClass() == information.getTypeClass();
  }

  @Override
  public int hashCode() {
    return getTypeClass().hashCode();
  }

  @Override
  public String toString() {
    return getTypeClass().getSimpleName();
  }
}
