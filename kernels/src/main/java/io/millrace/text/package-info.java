/** UTF-8 in host memory. */
package io.millrace.text;
