package org.topwork;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Texts cross to native code as UTF-8 bytes: JNI's own strings are a modified UTF-8, which is wrong
 * for file names and class names outside of the basic plane.
 */
final class Utf8 {
  private Utf8() {}

  /** Returns the text, or null for null. */
  static String string(byte[] utf8) {
    return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
  }

  /** Returns the bytes with a NUL behind them, or null for null. */
  static byte[] bytes(String text) {
    return text == null ? null : (text + "\0").getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the texts as an unmodifiable list. */
  static List<String> strings(byte[][] utf8) {
    List<String> texts = new ArrayList<>(utf8.length);
    for (byte[] bytes : utf8) {
      texts.add(string(bytes));
    }
    return Collections.unmodifiableList(texts);
  }

  /** Returns the bytes of each text with a NUL behind them, or null for null. */
  static byte[][] bytes(List<String> texts) {
    if (texts == null) {
      return null;
    }
    byte[][] utf8 = new byte[texts.size()][];
    for (int i = 0; i < utf8.length; i++) {
      utf8[i] = bytes(texts.get(i));
    }
    return utf8;
  }
}
