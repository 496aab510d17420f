package io.millrace.expression.function;

import io.millrace.expression.CastRule;
import io.millrace.expression.FunctionDefinition;
import io.millrace.expression.FunctionLibrary;
import java.util.List;
import java.util.stream.Stream;

/** The functions and casts of this package. */
public final class SqlFunctionLibrary implements FunctionLibrary {
  @Override
  public List<FunctionDefinition> definitions() {
    return Stream.of(
            ComparisonFunctions.definitions(),
            LogicalFunctions.definitions(),
            ConditionalFunctions.definitions(),
            ArithmeticFunctions.definitions(),
            PatternFunctions.definitions(),
            StringFunctions.definitions(),
            MathFunctions.definitions(),
            RoundingFunctions.definitions(),
            RadixFunctions.definitions(),
            DigestFunctions.definitions(),
            StringLengthFunctions.definitions(),
            TimePrecision.definitions(),
            DateTimeFunctions.definitions())
        .flatMap(List::stream)
        .toList();
  }

  @Override
  public List<CastRule> casts() {
    return List.of(new NumericCasts(), new DecimalCasts(), new StringCasts(), new TemporalCasts());
  }
}
