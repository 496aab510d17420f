/** Regular expressions as automata over the bytes of UTF-8: parser, NFA, DFA. */
package io.millrace.regexp;
