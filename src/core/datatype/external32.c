// SPDX-License-Identifier: BSD-3-Clause
/*
 * external32, the portable data representation: big-endian, IEEE, with the sizes of MPI 5.0,
 * "External Data Representation: external32".
 *
 * The packed form is converted one basic element at a time, in the order of the signature, so this
 * file does not depend on layouts.
 *
 * Invariant: an integer that is shorter in external32 loses its most significant bytes; a value
 * that fits the shorter form is restored exactly.
 */
#include "core/datatype/datatype.h"

#include <float.h>
#include <string.h>

/* The offset of a byte in this machine's numbers; digit: 0 is the least significant. */
static size_t offset_of_digit(size_t digit, size_t size)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? digit : size - 1 - digit;
}

/* To bytes that begin with the most significant one, and also from them. */
static void order(unsigned char *out, const unsigned char *in, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = in[offset_of_digit(bytes - 1 - i, bytes)];
}

/* Converts an integer of `size` bytes to `external` bytes, extended or truncated. */
static void write_integer(unsigned char *out, const unsigned char *in, size_t size, size_t external,
                          bool sign)
{
    unsigned char fill = sign && in[offset_of_digit(size - 1, size)] & 0x80 ? 0xff : 0;
    for (size_t i = 0; i < external; i++)
        out[external - 1 - i] = i < size ? in[offset_of_digit(i, size)] : fill;
}

static void read_integer(unsigned char *out, const unsigned char *in, size_t size, size_t external,
                         bool sign)
{
    unsigned char fill = sign && in[0] & 0x80 ? 0xff : 0;
    for (size_t i = 0; i < size; i++)
        out[offset_of_digit(i, size)] = i < external ? in[external - 1 - i] : fill;
}

/*
 * long double. IEEE binary128 has 1 sign bit, 15 exponent bits and 112 fraction bits. The x86
 * format has the same exponent and a significand of 64 bits with an explicit leading bit. If long
 * double is binary128, only the order of its bytes may differ.
 */
#if LDBL_MANT_DIG == 64
static void write_long_double(unsigned char *out, const unsigned char *in)
{
    uint64_t significand;
    uint16_t top;
    memcpy(&significand, in, sizeof significand);
    memcpy(&top, in + sizeof significand, sizeof top);
    uint64_t fraction = significand << 1; /* drops the leading bit */
    uint64_t high = (uint64_t)top << 48 | fraction >> 16, low = fraction << 48;
    for (int i = 0; i < 8; i++) {
        out[i] = (unsigned char)(high >> (56 - 8 * i));
        out[8 + i] = (unsigned char)(low >> (56 - 8 * i));
    }
}

static void read_long_double(unsigned char *out, const unsigned char *in)
{
    uint64_t high = 0, low = 0;
    for (int i = 0; i < 8; i++) {
        high = high << 8 | in[i];
        low = low << 8 | in[8 + i];
    }
    uint16_t top = (uint16_t)(high >> 48);
    uint64_t fraction = high << 16 | low >> 48; /* the upper 64 of 112 bits, of which 63 fit */
    uint64_t rest = low << 16, lost = fraction << 63;
    bool normal = top & 0x7fff, special = (top & 0x7fff) == 0x7fff;
    uint64_t significand = fraction >> 1 | (normal ? UINT64_C(1) << 63 : 0);
    bool up = lost && (rest || significand & 1); /* round to nearest, ties to even */
    if (special && !(significand << 1) && (lost || rest))
        significand |= UINT64_C(1) << 62; /* keep a NaN a NaN */
    else if (up && !special && !++significand) {
        significand = UINT64_C(1) << 63;
        top++;
    } else if (up && !normal && significand >> 63) {
        top++; /* a denormal number was rounded up to the smallest normal one */
    }
    memset(out, 0, sizeof(long double));
    memcpy(out, &significand, sizeof significand);
    memcpy(out + sizeof significand, &top, sizeof top);
}
#else
static void write_long_double(unsigned char *out, const unsigned char *in)
{
    _Static_assert(LDBL_MANT_DIG == 113, "long double is neither x86 extended nor binary128");
    order(out, in, sizeof(long double));
}

static void read_long_double(unsigned char *out, const unsigned char *in)
{
    order(out, in, sizeof(long double));
}
#endif

/* Converts count basic elements, to external32 or (read) from it. */
static void convert_elements(struct weft_basic basic, bool read, unsigned char *out,
                             const unsigned char *in, size_t count)
{
    size_t size = basic.size / basic.components, external = basic.external / basic.components;
    bool sign = basic.form == WEFT_FORM_SIGNED;
    for (size_t n = count * basic.components; n; n--) {
        if (basic.form == WEFT_FORM_PLAIN)
            order(out, in, size);
        else if (basic.form == WEFT_FORM_LONG_DOUBLE)
            (read ? read_long_double : write_long_double)(out, in);
        else
            (read ? read_integer : write_integer)(out, in, size, external, sign);
        in += read ? external : size;
        out += read ? size : external;
    }
}

/* The state of a conversion: the offset in the packed form and its end, and the next byte in
 * external32. */
struct conversion {
    const struct weft_datatype *type;
    char *buffer;
    bool read;
    size_t offset, end;
    unsigned char *external;
};

enum { BOUNCE = 4096 };

static void convert_basic(struct conversion *c, struct weft_basic basic, size_t count)
{
    unsigned char bounce[BOUNCE];
    weft_assert(basic.size % basic.components == 0 && basic.external % basic.components == 0);
    size_t most = BOUNCE / basic.size, left = (c->end - c->offset) / basic.size;
    count = count < left ? count : left;
    while (count) {
        size_t n = count < most ? count : most, bytes = n * basic.size;
        if (c->read) {
            convert_elements(basic, true, bounce, c->external, n);
            weft_datatype_unpack(c->type, c->buffer, c->offset, bounce, bytes);
        } else {
            weft_datatype_pack(c->type, c->buffer, c->offset, bounce, bytes);
            convert_elements(basic, false, c->external, bounce, n);
        }
        c->offset += bytes;
        c->external += n * basic.external;
        count -= n;
    }
}

static void convert(struct conversion *c, const struct weft_signature *signature, size_t times)
{
    if (signature->basic.size) {
        convert_basic(c, signature->basic, times * signature->count);
        return;
    }
    for (size_t t = 0; t < times && c->offset < c->end; t++) {
        if (signature->body)
            convert(c, signature->body, signature->count);
        for (size_t i = 0; !signature->body && i < signature->count; i++)
            convert(c, signature->entries[i], 1);
    }
}

bool weft_datatype_external_bytes(const struct weft_datatype *type, MPI_Count count, size_t *bytes)
{
    size_t each = type->signature ? type->signature->external : 0;
    return !__builtin_mul_overflow(each, (size_t)count, bytes) && (MPI_Count)*bytes >= 0;
}

void weft_datatype_pack_external(const struct weft_datatype *type, const void *buffer, size_t count,
                                 void *out)
{
    struct conversion c = {type, (char *)buffer, false, 0, count * type->size, out};
    if (type->signature && count)
        convert(&c, type->signature, count);
    weft_assert(c.offset == count * type->size);
}

void weft_datatype_unpack_external(const struct weft_datatype *type, void *buffer, size_t bytes,
                                   const void *in)
{
    struct conversion c = {type, buffer, true, 0, bytes, (unsigned char *)in};
    if (type->signature && bytes)
        convert(&c, type->signature, (bytes + type->size - 1) / type->size);
    weft_assert(c.offset == bytes);
}
