// Row ids of the records that are marked in a bitmap in the order of planes
// (textures.PlaneRow), a group of 8192 records at a time.
//
// COUNT: before[g] = how many of group g are marked.
// IDS: before[g] is how many are marked in the groups before g; rows gets the row ids in order.
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
        for (uint row = base + 8192u * g + 32u * me; word != 0u; word &= word - 1u)
            rows[at++] = row + uint(findLSB(word));
#endif
        barrier();
    }
}
#endif
