// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test of operators that holds as well when memory runs out: it is run once as it is, and then
 * for each site where an operator asked for memory meanwhile, with the first request there failing.
 * Its assertions hold each time, and {@link NothingHeldExtension} looks for leaks.
 *
 * <p>A site is fit for failing if Flink called the operator, or something within {@link
 * io.millrace.memory.retry.GpuRetry}; memory that the test or its own operators take is always
 * given.
 *
 * <p>These stay {@code @Test}: tests that take no memory in an operator; those of what operators
 * are made of, which does not retry by itself; those that count attempts, measure time, or let a
 * job run until they have seen enough. Tests with parameters do too, beside one of the same job
 * without.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(OutOfMemoryInjection.class)
public @interface OutOfMemoryTest {

  /**
   * The most attempts in a row that fail at a site; each number from 1 on is tried. The second
   * attempt follows spilling, the third is made alone on the device, and the fourth is of half the
   * input, where it can be split.
   */
  int attempts() default 2;

  /**
   * Whether the operators run in the threads of a job, which may take another way each time: a
   * failure that does not come is none then.
   */
  boolean onCluster() default false;

  /**
   * Whether the operator takes memory on a GPU only, so that on the host there is nothing to fail.
   */
  boolean onGpuOnly() default false;
}
