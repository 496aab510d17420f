// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import java.util.List;

/**
 * A provider of functions and casts for {@link FunctionRegistry#builtIn}, found through {@link
 * java.util.ServiceLoader}.
 */
@Internal
public interface FunctionLibrary {

  /** The functions, grouped by family. */
  List<FunctionDefinition> definitions();

  /** The casts. If two support the same types, the first is used. */
  List<CastRule> casts();
}
