package io.millrace.expression;

import io.millrace.device.Device;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The generated kernels of one calc, one a device. They are compiled once a process: a calc of
 * equal expressions, such as that of a restarted job, gets those that are there.
 */
final class CalcKernels {
  // A kernel has at most 512 words of arguments, of which a column takes at most 4.
  private static final int COLUMN_LIMIT = 120;
  private static final Map<Key, CalcKernel> COMPILED = new ConcurrentHashMap<>();

  private record Key(
      Device device,
      TypedExpression condition,
      List<TypedExpression> projections,
      boolean hasMasks,
      List<String> ptxSources) {}

  private record Variant(Device device, boolean hasMasks) {}

  private final TypedExpression condition;
  private final List<TypedExpression> projections;
  private final List<String> ptxSources;
  private final Optional<String> hostReason;
  private final Map<Variant, CalcKernel> variants = new ConcurrentHashMap<>();

  /**
   * @param condition null for all rows
   */
  CalcKernels(
      TypedExpression condition, List<TypedExpression> projections, FunctionRegistry functions) {
    this.condition = condition;
    this.projections = projections;
    this.ptxSources = functions.ptxSources();
    this.hostReason =
        columns(condition, projections) > COLUMN_LIMIT
            ? Optional.of("more than " + COLUMN_LIMIT + " columns are read and computed at once")
            : hostReason(condition, projections);
  }

  private static long columns(TypedExpression condition, List<TypedExpression> projections) {
    return projections.size()
        + Stream.concat(Stream.ofNullable(condition), projections.stream())
            .flatMap(CalcKernels::nodes)
            .filter(TypedExpression.InputReference.class::isInstance)
            .distinct()
            .count();
  }

  private static Stream<TypedExpression> nodes(TypedExpression expression) {
    return Stream.concat(
        Stream.of(expression), expression.operands().stream().flatMap(CalcKernels::nodes));
  }

  private static Optional<String> hostReason(
      TypedExpression condition, List<TypedExpression> projections) {
    return Stream.concat(Stream.ofNullable(condition), projections.stream())
        .flatMap(CalcKernels::nodes)
        .flatMap(CalcKernels::hostReasons)
        .findFirst();
  }

  private static Stream<String> hostReasons(TypedExpression expression) {
    if (expression instanceof TypedExpression.Call call) {
      return hostReasonOf(call);
    }
    return expression instanceof TypedExpression.Try attempt
        ? hostReasonOf(attempt.call())
        : Stream.empty();
  }

  private static Stream<String> hostReasonOf(TypedExpression.Call call) {
    BoundFunction function = call.function();
    return function.device().isPresent()
        ? Stream.empty()
        : Stream.of(function.name() + ": " + function.hostReason());
  }

  /** Why no device evaluates the calc; empty if one can. */
  Optional<String> hostReason() {
    return hostReason;
  }

  /**
   * The calc's program, for which {@link #hostReason} is empty.
   *
   * @param hasMasks whether columns of the input may have masks
   */
  CalcProgram program(boolean hasMasks) {
    return CalcProgramWriter.write(condition, projections, hasMasks, PtxLibrary.with(ptxSources));
  }

  /**
   * The kernel for tables on {@code device}; compiled at the first call in the process.
   *
   * @param hasMasks whether columns of the input may have masks
   */
  CalcKernel on(Device device, boolean hasMasks) {
    return variants.computeIfAbsent(
        new Variant(device, hasMasks),
        own ->
            COMPILED.computeIfAbsent(
                new Key(device, condition, projections, hasMasks, ptxSources),
                key -> new CalcKernel(program(hasMasks), device)));
  }
}
