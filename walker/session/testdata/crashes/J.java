import java.lang.reflect.Field;
import java.util.ArrayList;

/** How Java ends itself, with -XX:+CrashOnOutOfMemoryError -Xmx64m. */
class J {
  public static void main(String[] ways) throws Exception {
    switch (ways[0]) {
      case "oom":
        for (ArrayList<byte[]> all = new ArrayList<>(); ; ) all.add(new byte[1 << 20]);
      case "put":
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field the = unsafe.getDeclaredField("theUnsafe");
        the.setAccessible(true);
        unsafe.getMethod("putInt", long.class, int.class).invoke(the.get(null), 0L, 1);
    }
  }
}
