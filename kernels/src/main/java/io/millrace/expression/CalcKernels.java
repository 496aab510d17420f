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
  private static final int ARGUMENT_LIMIT_BYTES = 4096;
  private static final Map<Key, CalcKernel> COMPILED = new ConcurrentHashMap<>();

  private record Key(
      Device device,
      TypedExpression condition,
      List<TypedExpression> projections,
      List<String> ptxSources) {}

  private final TypedExpression condition;
  private final List<TypedExpression> projections;
  private final List<String> ptxSources;
  private final Optional<String> hostReason;
  private final Map<Device, CalcKernel> ofDevice = new ConcurrentHashMap<>();

  /**
   * @param condition null for all rows
   */
  CalcKernels(
      TypedExpression condition, List<TypedExpression> projections, FunctionRegistry functions) {
    this.condition = condition;
    this.projections = projections;
    this.ptxSources = functions.ptxSources();
    this.hostReason =
        Stream.concat(Stream.ofNullable(condition), projections.stream())
            .flatMap(CalcKernels::hostReasons)
            .findFirst();
  }

  private static Stream<String> hostReasons(TypedExpression expression) {
    Stream<String> own = Stream.empty();
    if (expression instanceof TypedExpression.Call call) {
      own = hostReasonOf(call);
    } else if (expression instanceof TypedExpression.Try attempt) {
      own = hostReasonOf(attempt.call());
    }
    return Stream.concat(own, expression.operands().stream().flatMap(CalcKernels::hostReasons));
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

  /** The calc's program, for which {@link #hostReason} is empty. */
  CalcProgram program() {
    CalcProgram program =
        CalcProgramWriter.write(condition, projections, PtxLibrary.with(ptxSources));
    if (program.argumentBytes() > ARGUMENT_LIMIT_BYTES) {
      throw new ExpressionException(
          "a calc of "
              + program.inputs().size()
              + " input and "
              + program.outputs().size()
              + " output columns is too wide for one kernel; select fewer at a time");
    }
    return program;
  }

  /** The kernel for {@code device}; compiled at the first call in the process. */
  CalcKernel on(Device device) {
    return ofDevice.computeIfAbsent(
        device,
        own ->
            COMPILED.computeIfAbsent(
                new Key(own, condition, projections, ptxSources),
                key -> new CalcKernel(program(), own)));
  }
}
