// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import java.util.List;

/**
 * Functions and casts that {@link FunctionRegistry#builtIn} has: a service of {@link
 * java.util.ServiceLoader}.
 */
@Internal
public interface FunctionLibrary {

  /** The functions, in the order of their families. */
  List<FunctionDefinition> definitions();

  /** The casts; of two for the same types the first is taken. */
  List<CastRule> casts();
}
