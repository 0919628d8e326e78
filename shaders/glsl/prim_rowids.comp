// Row ids of the records that are marked in a bitmap in the order of planes
// (textures.PlaneRow), a group of 8192 records at a time.
//
// COUNT: before[g] = how many of group g are marked.
// IDS: before[g] is how many are marked in the groups before g; rows gets the row ids in order.
// CODES: rows gets their codes instead, of which the bits stored have planes.
// BITS: rows gets a bit a record in the order of rows, that of row r in bit r % 32 of word r / 32.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Bitmap { uvec4 bitmap[]; };
layout(std430, binding = 1) buffer Before { uint before[]; };
uniform uint groups;

shared uint total[256];

#ifdef COUNT
void main() {
    uint me = gl_LocalInvocationIndex;
    for (uint g = gl_WorkGroupID.x; g < groups; g += gl_NumWorkGroups.x) {
        ivec4 n = me < 64u ? bitCount(bitmap[64u * g + me]) : ivec4(0);
        total[me] = uint(n.x + n.y + n.z + n.w);
        for (uint half_ = 32u; half_ > 0u; half_ >>= 1) {
            barrier();
            if (me < half_)
                total[me] += total[me + half_];
        }
        if (me == 0u)
            before[g] = total[0];
        barrier();
    }
}
#else
layout(std430, binding = 2) writeonly buffer Rows { uint rows[]; };
#ifdef IDS
uniform uint base; // the row id of the window's first record
#define VALUE(row) (base + (row))
#elif defined(CODES)
layout(std430, binding = 3) readonly buffer Planes { uint planes[]; };
uniform uint stored;
#define VALUE(row) code(row)

// code is that of a row of the window: a unit's words of the planes lie a plane of a run apart.
uint code(uint row) {
    uint unit = row / 8192u * 64u + row % 256u / 4u, bit = row % 8192u / 256u;
    uint at = (unit / 256u * 256u * uint(bitCount(stored)) + unit % 256u) * 4u + row % 4u;
    uint v = 0u;
    for (uint left = stored; left != 0u;) { // four loads at a time: one after the other would take long
        uvec4 w = uvec4(0u), j = uvec4(0u);
        for (int i = 0; i < 4; i++) {
            if (left == 0u)
                break;
            j[i] = uint(findLSB(left));
            w[i] = planes[at];
            left &= left - 1u;
            at += 1024u;
        }
        w = (w >> bit & 1u) << j;
        v |= w.x | w.y | w.z | w.w;
    }
    return v;
}
#endif

shared uvec4 units[72]; // every ninth is free: else threads wait for one bank
shared uint sixteen[16]; // what so many threads have

// A thread has 32 records in a row: bit i = me / 8 of the units 8 (me % 8) .. + 7.
void main() {
    uint me = gl_LocalInvocationIndex;
    for (uint g = gl_WorkGroupID.x; g < groups; g += gl_NumWorkGroups.x) {
        if (me < 64u)
            units[me + (me >> 3)] = bitmap[64u * g + me];
        barrier();
        uint word = 0u;
        for (uint j = 0u; j < 8u; j++) {
            uvec4 bit = units[9u * (me & 7u) + j] >> (me >> 3) & 1u;
            word |= (bit.x | bit.y << 1 | bit.z << 2 | bit.w << 3) << 4u * j;
        }
#ifdef BITS
        rows[256u * g + me] = word;
#else
        uint at = before[g];
        total[me] = uint(bitCount(word));
        barrier();
        if (me < 16u) { // one by one: that takes less than barriers do
            uint sum = 0u;
            for (uint i = 16u * me; i < 16u * me + 16u; i++) {
                uint n = total[i];
                total[i] = sum;
                sum += n;
            }
            sixteen[me] = sum;
        }
        barrier();
        at += total[me];
        for (uint i = 0u; i < me >> 4; i++)
            at += sixteen[i];
        for (uint row = 8192u * g + 32u * me; word != 0u; word &= word - 1u)
            rows[at++] = VALUE(row + uint(findLSB(word)));
#endif
        barrier();
    }
}
#endif
