/* What a kernel needs around it: memory that is given back as a whole, and a few functions of C. One thread. */

typedef unsigned long long u64;
typedef long long i64;
typedef unsigned char byte;
#define EXPORTED(name) __attribute__((export_name(name)))
#define FROM_MATH(name) __attribute__((import_module("math"), import_name(name)))
#define ALIGNED(address) (((address) + 63) & ~63ull)

extern byte __heap_base;
static u64 top;

/* Memory from here on is taken after this call; `release` gives it back. */
EXPORTED("mark") u64 mark(void) {
  if (top == 0) top = ALIGNED((u64)&__heap_base);
  return top;
}

EXPORTED("release") void release(u64 to) { top = to; }

EXPORTED("allocate") u64 allocate(u64 size) {
  u64 address = ALIGNED(mark());
  u64 end = address + size;
  u64 have = (u64)__builtin_wasm_memory_size(0) << 16;
  if (end > have && __builtin_wasm_memory_grow(0, (end - have + 65535) >> 16) == (u64)-1) __builtin_trap();
  top = end;
  return address;
}

/* Numba's owner of an array's memory. */
typedef struct {
  i64 references;
  void *destructor;
  void *information;
  void *data;
  u64 size;
  void *allocator;
} Owner;

void *NRT_MemInfo_alloc_aligned(u64 size, unsigned alignment) {
  (void)alignment; /* at most 64 */
  Owner *owner = (Owner *)allocate(sizeof(Owner));
  owner->references = 1;
  owner->destructor = 0;
  owner->information = 0;
  owner->data = (void *)allocate(size);
  owner->size = size;
  owner->allocator = 0;
  return owner;
}

void NRT_MemInfo_call_dtor(void *owner) { (void)owner; }

/* Arrays are contiguous here, so every new shape is possible. */
int numba_attempt_nocopy_reshape(i64 dimensions, const i64 *shape, const i64 *strides, i64 new_dimensions,
                                 const i64 *new_shape, i64 *new_strides, i64 item_size, int fortran) {
  (void)dimensions, (void)shape, (void)strides, (void)fortran;
  i64 stride = item_size;
  for (i64 i = new_dimensions - 1; i >= 0; i--) {
    new_strides[i] = stride;
    stride *= new_shape[i];
  }
  return 1;
}

void *memset(void *to, int value, u64 count) {
  byte *target = to;
  while (count--) *target++ = (byte)value;
  return to;
}

void *memcpy(void *to, const void *from, u64 count) {
  byte *target = to;
  const byte *source = from;
  while (count--) *target++ = *source++;
  return to;
}

/* The product of two 128-bit numbers, from products of 32-bit halves. */
__int128 __multi3(__int128 a, __int128 b) {
  u64 a_low = (u64)a, b_low = (u64)b;
  u64 a0 = a_low & 0xffffffff, a1 = a_low >> 32, b0 = b_low & 0xffffffff, b1 = b_low >> 32;
  u64 low = a0 * b0;
  u64 middle = a1 * b0 + (low >> 32);
  u64 other = a0 * b1 + (middle & 0xffffffff);
  u64 high = a1 * b1 + (middle >> 32) + (other >> 32);
  high += (u64)(a >> 64) * b_low + a_low * (u64)(b >> 64);
  return (__int128)(((unsigned __int128)high << 64) | (u64)(other << 32) | (low & 0xffffffff));
}

FROM_MATH("exp") double math_exp(double x);
FROM_MATH("expm1") double math_expm1(double x);
double exp(double x) { return math_exp(x); }
double expm1(double x) { return math_expm1(x); }
