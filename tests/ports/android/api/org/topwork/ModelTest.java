package org.topwork;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Opening models and asking what they are. */
public class ModelTest {
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private static void checkDigits(Model model) {
    assertEquals(1, model.info().inputs());
    assertEquals(1, model.info().outputs());
    TensorInfo input = model.inputInfo(0);
    assertEquals(DataType.FLOAT32, input.dataType());
    assertArrayEquals(new int[] {1, 8, 8, 1}, input.shape());
    assertEquals(256, input.bytes());
    assertEquals("x float32 [1, 8, 8, 1]", input.toString());
    assertEquals(10, model.outputInfo(0).elements());
  }

  @Test
  public void opensFile() {
    try (Model model = Model.open(TestFiles.digits())) {
      checkDigits(model);
      assertTrue(model.describe().contains("\"CONV_2D\""));
      assertEquals(0, model.info().labels().size());
    }
  }

  @Test
  public void opensDirectAndHeapBuffersBetweenPositionAndLimit() throws Exception {
    byte[] file = TestFiles.bytes(TestFiles.digits());
    byte[] padded = new byte[file.length + 32];
    System.arraycopy(file, 0, padded, 16, file.length);
    for (ByteBuffer buffer : Arrays.asList(TestFiles.direct(padded), ByteBuffer.wrap(padded))) {
      buffer.position(16).limit(16 + file.length);
      try (Model model = Model.open(buffer)) {
        checkDigits(model);
        assertEquals(16, buffer.position());
      }
    }
  }

  @Test
  public void namesOfFilesMayHaveAnyCharacter() throws Exception {
    File named = new File(folder.getRoot(), "caf\u00e9 \ud83c\udf33.tflite");
    try (Model model = Model.open(TestFiles.digits())) {
      model.save(named);
    }
    assertArrayEquals(TestFiles.bytes(TestFiles.digits()), TestFiles.bytes(named));
    try (Model model = Model.open(named)) {
      checkDigits(model);
    }
  }

  @Test
  public void failuresHaveTheirClassAndTheLibrarysSentence() {
    File missing = new File(folder.getRoot(), "missing.tflite");
    TopworkException io = assertThrows(TopworkException.Io.class, () -> Model.open(missing));
    assertTrue(io.getMessage(), io.getMessage().contains("missing.tflite"));
    ByteBuffer noModel = TestFiles.direct(new byte[64]);
    assertThrows(TopworkException.InvalidModel.class, () -> Model.open(noModel));
    try (Model model = Model.open(TestFiles.digits())) {
      assertThrows(TopworkException.InvalidArgument.class, () -> model.inputInfo(1));
      assertThrows(TopworkException.InvalidArgument.class, () -> model.inputInfo(-1));
      TopworkException notFound =
          assertThrows(TopworkException.NotFound.class, () -> model.file("labels.txt"));
      assertTrue(notFound.getMessage(), notFound.getMessage().contains("labels.txt"));
    }
  }

  @Test
  public void everyStatusHasItsClass() {
    Class<?>[] classes = {
      TopworkException.InvalidArgument.class,
      TopworkException.InvalidModel.class,
      TopworkException.Unsupported.class,
      TopworkException.OutOfMemory.class,
      TopworkException.Io.class,
      TopworkException.Cancelled.class,
      TopworkException.FailedPrecondition.class,
      TopworkException.Numeric.class,
      TopworkException.NotFound.class,
      TopworkException.DeviceLost.class,
      TopworkException.Corrupt.class,
      TopworkException.class
    };
    for (int i = 0; i < classes.length; i++) {
      TopworkException made = TopworkException.of(i + 1, TestFiles.utf8("why: \u00e4"));
      assertEquals(classes[i], made.getClass());
      assertEquals("why: \u00e4", made.getMessage());
    }
  }

  @Test
  public void readsPackedFilesAndSignatures() {
    try (Model model = Model.open(TestFiles.small("scale"))) {
      assertTrue(model.file("labels.txt").length > 0);
      assertArrayEquals(new int[] {-1, 4}, model.inputInfo(0).openShape());
    }
    try (Model model = Model.open(TestFiles.small("signatures"))) {
      assertEquals(Arrays.asList("double", "mix"), model.info().signatures());
    }
    try (Model model = Model.open(TestFiles.small("scale_int8"))) {
      assertTrue(model.inputInfo(0).isQuantized());
      assertEquals(1, model.inputInfo(0).zeroPoints().length);
      assertTrue(model.inputInfo(0).scales()[0] > 0);
    }
  }

  @Test
  public void closedModelSaysSo() {
    Model model = Model.open(TestFiles.digits());
    model.close();
    model.close();
    IllegalStateException closed = assertThrows(IllegalStateException.class, model::describe);
    assertEquals("this Model is closed", closed.getMessage());
  }

  @Test
  public void sessionOutlivesItsModel() {
    Session session;
    try (Model model = Model.open(TestFiles.digits())) {
      session = new Session(model);
    }
    session.run();
    session.close();
  }

  @Test
  public void devicesBeginWithTheProcessor() {
    Device cpu = Device.all().get(0);
    assertEquals("cpu", cpu.id());
    assertEquals("cpu", cpu.type());
    assertTrue(cpu.isUsable());
    assertEquals("", cpu.reason());
    assertTrue(cpu.computeUnits() > 0);
    for (Device device : Device.all()) {
      assertEquals(device.isUsable(), device.reason().isEmpty());
    }
  }

  @Test
  public void versionIsThatOfTheLibrary() {
    assertTrue(Topwork.version(), Topwork.version().matches("\\d+\\.\\d+\\.\\d+"));
  }
}
