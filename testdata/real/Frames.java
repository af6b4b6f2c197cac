// Threads of a Java program: deep in interpreted and in compiled calls, in a native method, waiting for a monitor, and in a callback of sort.
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

public class Frames {
    static final CountDownLatch arrived = new CountDownLatch(4);
    static final Object monitor = new Object();
    static volatile long sink;

    static void waitHere() {
        arrived.countDown();
        while (true) LockSupport.park();
    }

    static long interpreted(int n) {
        if (n == 0) waitHere();
        return interpreted(n - 1) + n;
    }

    static long hot(int n, boolean stop) {
        if (n == 0) {
            if (stop) waitHere();
            return 1;
        }
        return hot(n - 1, stop) * 3 + n;
    }

    static void compiled() {
        for (int i = 0; i < 20000; i++) sink += hot(20, false); // until it is compiled
        sink = hot(20, true);
    }

    static void sorting() {
        Integer[] list = {5, 3, 8, 1, 9, 2};
        Arrays.sort(list, (a, b) -> {
            if (a == 8 || b == 8) waitHere();
            return a - b;
        });
    }

    static void blocked() {
        arrived.countDown();
        synchronized (monitor) {
            sink++;
        }
    }

    static void start(String name, Runnable job) {
        Thread t = new Thread(null, job, name, 1 << 20);
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] args) throws Exception {
        synchronized (monitor) {
            start("interpreted", () -> interpreted(30));
            start("compiled", Frames::compiled);
            start("sorting", Frames::sorting);
            start("blocked", Frames::blocked);
            arrived.await();
            System.out.println("ready");
            System.out.flush();
            Thread.sleep(1000000);
        }
    }
}
