package org.topwork;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import android.content.res.AssetFileDescriptor;
import android.content.res.AssetManager;
import android.graphics.Bitmap;
import android.os.ParcelFileDescriptor;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Arrays;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Models and pictures from Android's own classes; what is native in those is a stand-in. */
public class AndroidClassesTest {
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  /** A package that has the model at an odd place. */
  private File packed() throws IOException {
    byte[] model = TestFiles.bytes(TestFiles.digits());
    ByteBuffer bytes = ByteBuffer.allocate(model.length + 20);
    bytes.position(13);
    bytes.put(model);
    File file = new File(folder.getRoot(), "app.apk");
    Files.write(file.toPath(), bytes.array());
    return file;
  }

  /** Android's descriptor of an open file. */
  private static ParcelFileDescriptor descriptor(FileInputStream file) throws Exception {
    Field number = FileDescriptor.class.getDeclaredField("fd");
    number.setAccessible(true);
    ParcelFileDescriptor descriptor = mock(ParcelFileDescriptor.class);
    when(descriptor.getFd()).thenReturn(number.getInt(file.getFD()));
    return descriptor;
  }

  @Test
  public void opensAnAssetAtItsOffset() throws Exception {
    long length = TestFiles.digits().length();
    AssetManager assets = mock(AssetManager.class);
    Model model;
    try (FileInputStream file = new FileInputStream(packed())) {
      AssetFileDescriptor asset = new AssetFileDescriptor(descriptor(file), 13, length);
      when(assets.openFd("digits.tflite")).thenReturn(asset);
      model = Model.openAsset(assets, "digits.tflite");
    }
    try (Session session = new Session(model)) {
      session.run();
      assertEquals(10, session.outputInfo(0).elements());
    }
    model.close();
  }

  @Test
  public void opensWhatADescriptorSays() throws Exception {
    long length = TestFiles.digits().length();
    try (FileInputStream file = new FileInputStream(packed())) {
      ParcelFileDescriptor descriptor = descriptor(file);
      assertThrows(TopworkException.class, () -> Model.open(descriptor, 13, length + 100));
      assertThrows(TopworkException.InvalidModel.class, () -> Model.open(descriptor, 0, length));
    }
    try (FileInputStream file = new FileInputStream(TestFiles.digits())) {
      long unknown = AssetFileDescriptor.UNKNOWN_LENGTH;
      Model.open(new AssetFileDescriptor(descriptor(file), 0, unknown)).close();
    }
  }

  @Test
  public void missingAssetIsAnIoException() throws Exception {
    AssetManager assets = mock(AssetManager.class);
    when(assets.openFd("no.tflite")).thenThrow(new FileNotFoundException("no.tflite"));
    assertThrows(FileNotFoundException.class, () -> Model.openAsset(assets, "no.tflite"));
  }

  /** 8 x 8 pixels of one colour, but for a white one at the end of the first row. */
  private static Bitmap bitmap(int colour) {
    Bitmap bitmap = mock(Bitmap.class);
    when(bitmap.getWidth()).thenReturn(8);
    when(bitmap.getHeight()).thenReturn(8);
    doAnswer(
            call -> {
              int[] pixels = call.getArgument(0);
              Arrays.fill(pixels, 0, 64, colour);
              pixels[7] = 0xffffffff;
              return null;
            })
        .when(bitmap)
        .getPixels(any(), anyInt(), anyInt(), anyInt(), anyInt(), anyInt(), anyInt());
    return bitmap;
  }

  @Test
  public void writesBitmaps() {
    try (Model model = Model.open(TestFiles.digits());
        Session session = new Session(model)) {
      float[] zero = {0};
      float[] full = {255};
      PixelInput input = new PixelInput(session.inputInfo(0), zero, full);
      input.write(bitmap(0xff336699), 90, session.input(0));
      session.run();
      assertEquals(1f, session.input(0).getFloat(4 * 63), 0);
      float gray = (299 * 0x33 + 587 * 0x66 + 114 * 0x99 + 500) / 1000 / 255f;
      assertEquals(gray, session.input(0).getFloat(0), 0);
    }
  }
}
