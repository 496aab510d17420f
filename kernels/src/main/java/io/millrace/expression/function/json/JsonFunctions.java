// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import io.millrace.annotation.Internal;
import io.millrace.expression.resolve.FunctionDefinition;
import java.util.ArrayList;
import java.util.List;

/** The functions of JSON texts. */
@Internal
public final class JsonFunctions {
  private JsonFunctions() {}

  public static List<FunctionDefinition> definitions() {
    List<FunctionDefinition> definitions = new ArrayList<>();
    definitions.add(JsonValueFunction.definition());
    definitions.add(JsonQueryFunction.definition());
    definitions.add(JsonPathFunctions.exists());
    definitions.addAll(JsonPredicateFunctions.definitions());
    definitions.addAll(JsonConstructorFunctions.definitions());
    definitions.addAll(JsonTextFunctions.definitions());
    return definitions;
  }
}
