/** Who may use a public type. */
package io.millrace.annotation;
