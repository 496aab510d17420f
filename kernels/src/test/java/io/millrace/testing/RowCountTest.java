// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A test that has a number of rows as its {@code int} argument; runs once for each row count. */
@ParameterizedTest(name = "{0} rows")
@MethodSource("io.millrace.testing.RowCounts#all")
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface RowCountTest {}
