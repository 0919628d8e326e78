// Not null: bitmap &= the validity of a column; FIRST: the records of the window.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) buffer Bitmap { uvec4 bitmap[]; };
layout(std430, binding = 1) readonly buffer Validity { uvec4 valid[]; };
uniform uint units;

void main() {
    uint step = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint unit = gl_GlobalInvocationID.x; unit < units; unit += step)
#ifdef FIRST
        bitmap[unit] = valid[unit];
#else
        bitmap[unit] &= valid[unit];
#endif
}
