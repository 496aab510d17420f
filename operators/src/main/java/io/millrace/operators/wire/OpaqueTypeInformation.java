// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import java.util.Objects;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.typeinfo.TypeInformation;

/** The type of elements whose content Flink does not know: one field, which cannot be a key. */
@Internal
public abstract class OpaqueTypeInformation<T> extends TypeInformation<T> {
  private static final long serialVersionUID = 1L;

  private final Class<T> typeClass;

  protected OpaqueTypeInformation(Class<T> typeClass) {
    this.typeClass = Objects.requireNonNull(typeClass, "typeClass is null");
  }

  @Override
  public final boolean isBasicType() {
    return false;
  }

  @Override
  public final boolean isTupleType() {
    return false;
  }

  @Override
  public final int getArity() {
    return 1;
  }

  @Override
  public final int getTotalFields() {
    return 1;
  }

  @Override
  public final Class<T> getTypeClass() {
    return typeClass;
  }

  @Override
  public final boolean isKeyType() {
    return false;
  }
}
