// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function;

import io.millrace.annotation.Internal;
import io.millrace.expression.function.arithmetic.ArithmeticFunctions;
import io.millrace.expression.function.arithmetic.MathFunctions;
import io.millrace.expression.function.arithmetic.RadixFunctions;
import io.millrace.expression.function.arithmetic.RandomFunctions;
import io.millrace.expression.function.arithmetic.RoundingFunctions;
import io.millrace.expression.function.comparison.ComparisonFunctions;
import io.millrace.expression.function.conditional.ConditionalFunctions;
import io.millrace.expression.function.decimal.DecimalCasts;
import io.millrace.expression.function.digest.DigestFunctions;
import io.millrace.expression.function.digest.HashCodeFunctions;
import io.millrace.expression.function.json.JsonFunctions;
import io.millrace.expression.function.logical.LogicalFunctions;
import io.millrace.expression.function.nested.ArrayFunctions;
import io.millrace.expression.function.nested.MapFunctions;
import io.millrace.expression.function.nested.NestedFunctions;
import io.millrace.expression.function.nested.StringArrayFunctions;
import io.millrace.expression.function.numeric.NumericCasts;
import io.millrace.expression.function.pattern.PatternFunctions;
import io.millrace.expression.function.string.StringCasts;
import io.millrace.expression.function.string.StringConcatFunctions;
import io.millrace.expression.function.string.StringEditFunctions;
import io.millrace.expression.function.string.StringEncodingFunctions;
import io.millrace.expression.function.string.StringFunctions;
import io.millrace.expression.function.string.StringLengthFunctions;
import io.millrace.expression.function.string.StringPredicateFunctions;
import io.millrace.expression.function.temporal.CurrentTimeFunctions;
import io.millrace.expression.function.temporal.DateTimeFunctions;
import io.millrace.expression.function.temporal.DateTimeTextFunctions;
import io.millrace.expression.function.temporal.EpochFunctions;
import io.millrace.expression.function.temporal.IntervalFunctions;
import io.millrace.expression.function.temporal.IntervalValueFunctions;
import io.millrace.expression.function.temporal.TemporalCasts;
import io.millrace.expression.function.temporal.TimePrecision;
import io.millrace.expression.resolve.CastRule;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionLibrary;
import java.util.List;
import java.util.stream.Stream;

/** The built-in functions and casts. */
@Internal
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
            StringPredicateFunctions.definitions(),
            StringConcatFunctions.definitions(),
            StringEditFunctions.definitions(),
            StringEncodingFunctions.definitions(),
            MathFunctions.definitions(),
            RoundingFunctions.definitions(),
            RadixFunctions.definitions(),
            RandomFunctions.definitions(),
            DigestFunctions.definitions(),
            HashCodeFunctions.definitions(),
            JsonFunctions.definitions(),
            NestedFunctions.definitions(),
            ArrayFunctions.definitions(),
            MapFunctions.definitions(),
            StringArrayFunctions.definitions(),
            StringLengthFunctions.definitions(),
            TimePrecision.definitions(),
            DateTimeFunctions.definitions(),
            IntervalFunctions.definitions(),
            IntervalValueFunctions.definitions(),
            DateTimeTextFunctions.definitions(),
            EpochFunctions.definitions(),
            CurrentTimeFunctions.definitions())
        .flatMap(List::stream)
        .toList();
  }

  @Override
  public List<CastRule> casts() {
    return List.of(new NumericCasts(), new DecimalCasts(), new StringCasts(), new TemporalCasts());
  }
}
