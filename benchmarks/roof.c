/* The most float32 operations per second that the cores can do, by fused multiply-adds of registers.

       cc -O2 -mavx512f -pthread benchmarks/roof.c -o roof && ./roof 2
       cc -O2 -mavx2 -mfma -pthread benchmarks/roof.c -o roof && ./roof 2

   The argument is the number of threads. Compiled with AVX-512, it uses 512-bit registers, otherwise
   256-bit ones. No program can compute faster; docs/performance.md compares Tertium with it. */

#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __AVX512F__
#define FLOATS 16
typedef __m512 vector;
#define FILL _mm512_set1_ps
#define MULTIPLY_ADD _mm512_fmadd_ps
#else
#define FLOATS 8
typedef __m256 vector;
#define FILL _mm256_set1_ps
#define MULTIPLY_ADD _mm256_fmadd_ps
#endif

enum { CHAINS = 12, ROUNDS = 400000000, MOST_THREADS = 256 };

static volatile float result; /* so that the compiler does not leave out the work */

static void *work(void *unused) {
    vector sums[CHAINS];
    const vector factor = FILL(0.9999f), term = FILL(0.001f);
    for (int chain = 0; chain < CHAINS; chain++) sums[chain] = FILL((float)chain);
    for (int round = 0; round < ROUNDS; round++) {
#pragma GCC unroll 12
        for (int chain = 0; chain < CHAINS; chain++)
            sums[chain] = MULTIPLY_ADD(sums[chain], factor, term);
    }
    float total = 0;
    for (int chain = 0; chain < CHAINS; chain++) total += ((float *)&sums[chain])[0];
    result = total;
    return unused;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char **arguments) {
    int threads = count > 1 ? atoi(arguments[1]) : 1;
    if (threads < 1 || threads > MOST_THREADS) return 1;
    pthread_t started[MOST_THREADS];
    double before = seconds();
    for (int number = 0; number < threads; number++)
        pthread_create(&started[number], NULL, work, NULL);
    for (int number = 0; number < threads; number++) pthread_join(started[number], NULL);
    double operations = 2.0 * CHAINS * FLOATS * ROUNDS * threads;
    printf("%d threads, registers of %d floats: %.0f billion operations per second\n", threads,
           FLOATS, operations / (seconds() - before) / 1e9);
    return 0;
}
