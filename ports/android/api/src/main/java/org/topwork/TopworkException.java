package org.topwork;

/**
 * A failure that the library reports. The message is the library's sentence: what was wrong, where,
 * and what to do. Catch one of the nested classes to handle one kind of failure.
 */
public class TopworkException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TopworkException(String message) {
    super(message);
  }

  /** An argument of the call is wrong. */
  public static final class InvalidArgument extends TopworkException {
    private static final long serialVersionUID = 1L;

    InvalidArgument(String message) {
      super(message);
    }
  }

  /** The model file is malformed. */
  public static final class InvalidModel extends TopworkException {
    private static final long serialVersionUID = 1L;

    InvalidModel(String message) {
      super(message);
    }
  }

  /** The model or option is well-formed, but this library does not support it. */
  public static final class Unsupported extends TopworkException {
    private static final long serialVersionUID = 1L;

    Unsupported(String message) {
      super(message);
    }
  }

  /** Native memory ran out, or the session's memory limit was reached. */
  public static final class OutOfMemory extends TopworkException {
    private static final long serialVersionUID = 1L;

    OutOfMemory(String message) {
      super(message);
    }
  }

  /** A file could not be read or written. */
  public static final class Io extends TopworkException {
    private static final long serialVersionUID = 1L;

    Io(String message) {
      super(message);
    }
  }

  /** The call was stopped by {@code cancel()}. */
  public static final class Cancelled extends TopworkException {
    private static final long serialVersionUID = 1L;

    Cancelled(String message) {
      super(message);
    }
  }

  /** The call came in the wrong order or state. */
  public static final class FailedPrecondition extends TopworkException {
    private static final long serialVersionUID = 1L;

    FailedPrecondition(String message) {
      super(message);
    }
  }

  /** A loss, gradient, weight or feature became NaN or infinite. */
  public static final class Numeric extends TopworkException {
    private static final long serialVersionUID = 1L;

    Numeric(String message) {
      super(message);
    }
  }

  /** A named thing does not exist. */
  public static final class NotFound extends TopworkException {
    private static final long serialVersionUID = 1L;

    NotFound(String message) {
      super(message);
    }
  }

  /** The OpenCL device failed while it was running. */
  public static final class DeviceLost extends TopworkException {
    private static final long serialVersionUID = 1L;

    DeviceLost(String message) {
      super(message);
    }
  }

  /** A checkpoint or cache failed its checksum. */
  public static final class Corrupt extends TopworkException {
    private static final long serialVersionUID = 1L;

    Corrupt(String message) {
      super(message);
    }
  }

  /** Makes the exception of a {@code tw_status}; the native code throws it. */
  static TopworkException of(int status, byte[] utf8) {
    String message = Utf8.string(utf8);
    switch (status) {
      case 1:
        return new InvalidArgument(message);
      case 2:
        return new InvalidModel(message);
      case 3:
        return new Unsupported(message);
      case 4:
        return new OutOfMemory(message);
      case 5:
        return new Io(message);
      case 6:
        return new Cancelled(message);
      case 7:
        return new FailedPrecondition(message);
      case 8:
        return new Numeric(message);
      case 9:
        return new NotFound(message);
      case 10:
        return new DeviceLost(message);
      case 11:
        return new Corrupt(message);
      default:
        return new TopworkException(message);
    }
  }
}
