// SPDX-License-Identifier: MIT
// Guava's RateLimiter for `make bench-peers`: the same lines as ours.c.
import com.google.common.util.concurrent.RateLimiter;
import java.util.Scanner;
import java.util.concurrent.ConcurrentHashMap;

@SuppressWarnings("UnstableApiUsage")
public final class Peer {
    private static final int KEYS = 1_000_000;
    private static final RateLimiter ONE = RateLimiter.create(1e9);
    private static final ConcurrentHashMap<String, RateLimiter> TABLE = new ConcurrentHashMap<>();
    private static String[] names;

    private static void takeKey(String name) {
        TABLE.computeIfAbsent(name, n -> RateLimiter.create(1e9)).tryAcquire();
    }

    private static void beginKeys() {
        names = new String[KEYS];
        for (int i = 0; i < KEYS; i++) {
            names[i] = String.format("token-%07d", i);
            takeKey(names[i]);
        }
    }

    private static void takeOne(long times) {
        for (long i = 0; i < times; i++)
            ONE.tryAcquire();
    }

    private static void takeKeys(long times) {
        long chance = 88172645463325252L;
        for (long i = 0; i < times; i++) {
            chance ^= chance << 13;
            chance ^= chance >>> 7;
            chance ^= chance << 17;
            takeKey(names[(int) ((chance >>> 16) % KEYS)]);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Scanner in = new Scanner(System.in);
        while (in.hasNext()) {
            String name = in.next();
            long times = in.nextLong();
            boolean keys = name.equals("keys");
            if (keys && names == null)
                beginKeys();
            Thread[] threads = new Thread[name.equals("two") ? 2 : 1];
            long begin = System.nanoTime();
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new Thread(() -> {
                    if (keys)
                        takeKeys(times);
                    else
                        takeOne(times);
                });
                threads[i].start();
            }
            for (Thread thread : threads)
                thread.join();
            System.out.printf("%.3f%n", (System.nanoTime() - begin) / (double) times);
        }
    }
}
