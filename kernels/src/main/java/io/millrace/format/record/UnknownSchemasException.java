// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;
import java.util.Arrays;
import java.util.stream.IntStream;

/** Records name schemas that their format does not know: they can be read when it does. */
@Internal
public final class UnknownSchemasException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int[] ids;

  UnknownSchemasException(int[] ids) {
    super("schemas that are not known: " + Arrays.toString(ids));
    this.ids = ids;
  }

  /** The ids of the schemas, each once. */
  public IntStream ids() {
    return IntStream.of(ids);
  }
}
