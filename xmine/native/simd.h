/* Vectors of LANES 32-bit numbers in one instruction set, chosen by the flags of the compiler.

   Products of whole numbers are exact, and floats are added in the order of the numpy twin without
   fused operations: so all sets give the same bytes. */
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { AHEAD = 8 }; /* rows of a table that are asked for before they are read */

#ifdef __GNUC__
#define UNROLLED _Pragma("GCC unroll 16") /* before a short loop over registers */
#define PREFETCHED(is_there, from, bytes)                                                          \
    if (is_there)                                                                                  \
        for (ptrdiff_t i_ = 0; i_ < (bytes); i_ += 64) __builtin_prefetch((const char *)(from) + i_);
#else
#define UNROLLED
#define PREFETCHED(is_there, from, bytes)
#endif

#if defined(__AVX512VNNI__)
#include <immintrin.h>
#define LANES 16
typedef __m512i Whole;
static inline Whole load(const void *p) { return _mm512_loadu_si512(p); }
static inline void store(void *p, Whole a) { _mm512_storeu_si512(p, a); }
static inline Whole every(int32_t a) { return _mm512_set1_epi32(a); }
/* Add to each lane the products of its two pairs of 16-bit numbers. */
static inline Whole dot(Whole sum, Whole a, Whole b) { return _mm512_dpwssd_epi32(sum, a, b); }
static inline uint32_t above(Whole a, Whole b) { return _mm512_cmpgt_epi32_mask(a, b); }
static inline Whole minus(Whole a, Whole b) { return _mm512_sub_epi32(a, b); }
/* x where a is above b, else y. */
static inline Whole either(Whole a, Whole b, Whole x, Whole y) {
    return _mm512_mask_blend_epi32(_mm512_cmpgt_epi32_mask(a, b), y, x);
}
#elif defined(__AVX2__)
#include <immintrin.h>
#define LANES 8
typedef __m256i Whole;
static inline Whole load(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }
static inline void store(void *p, Whole a) { _mm256_storeu_si256((__m256i *)p, a); }
static inline Whole every(int32_t a) { return _mm256_set1_epi32(a); }
static inline Whole dot(Whole sum, Whole a, Whole b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
static inline uint32_t above(Whole a, Whole b) {
    return _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b)));
}
static inline Whole minus(Whole a, Whole b) { return _mm256_sub_epi32(a, b); }
static inline Whole either(Whole a, Whole b, Whole x, Whole y) {
    return _mm256_blendv_epi8(y, x, _mm256_cmpgt_epi32(a, b));
}
#elif defined(__ARM_NEON) && defined(__aarch64__) && !defined(XMINE_PLAIN)
#include <arm_neon.h>
#define LANES 4
typedef int32x4_t Whole;
static inline Whole load(const void *p) { return vld1q_s32((const int32_t *)p); }
static inline void store(void *p, Whole a) { vst1q_s32((int32_t *)p, a); }
static inline Whole every(int32_t a) { return vdupq_n_s32(a); }
static inline Whole dot(Whole sum, Whole a, Whole b) {
    int16x8_t x = vreinterpretq_s16_s32(a), y = vreinterpretq_s16_s32(b);
    int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(y));
    return vaddq_s32(sum, vpaddq_s32(low, vmull_high_s16(x, y)));
}
static inline uint32_t above(Whole a, Whole b) {
    const uint32_t bits[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcgtq_s32(a, b), vld1q_u32(bits)));
}
static inline Whole minus(Whole a, Whole b) { return vsubq_s32(a, b); }
static inline Whole either(Whole a, Whole b, Whole x, Whole y) {
    return vbslq_s32(vcgtq_s32(a, b), x, y);
}
#else
#define LANES 4
typedef union { int32_t lane[LANES]; int16_t half[2 * LANES]; } Whole;
/* A function's body: gives `number` in each lane i. */
#define IN_EACH(number)                                                                            \
    Whole all;                                                                                     \
    for (int i = 0; i < LANES; i++) all.lane[i] = number;                                          \
    return all;
static inline Whole load(const void *p) { IN_EACH(((const int32_t *)p)[i]) }
static inline void store(void *p, Whole a) { memcpy(p, &a, sizeof a); }
static inline Whole every(int32_t a) { IN_EACH(a) }
static inline Whole dot(Whole sum, Whole a, Whole b) {
    IN_EACH(sum.lane[i] + a.half[2 * i] * b.half[2 * i] + a.half[2 * i + 1] * b.half[2 * i + 1])
}
static inline uint32_t above(Whole a, Whole b) {
    uint32_t bits = 0;
    for (int i = 0; i < LANES; i++) bits |= (uint32_t)(a.lane[i] > b.lane[i]) << i;
    return bits;
}
static inline Whole minus(Whole a, Whole b) { IN_EACH(a.lane[i] - b.lane[i]) }
static inline Whole either(Whole a, Whole b, Whole x, Whole y) {
    IN_EACH(a.lane[i] > b.lane[i] ? x.lane[i] : y.lane[i])
}
#endif
