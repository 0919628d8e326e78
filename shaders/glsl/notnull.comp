// Not null: bitmap &= the validity of a column; FIRST: the records of the window.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) buffer Bitmap { uvec4 bitmap[]; };
#ifdef SOFTWARE
layout(binding = 1, rgba32ui) readonly uniform uimageBuffer valid;
#else
layout(std430, binding = 1) readonly buffer Validity { uvec4 valid[]; };
#endif
uniform uint units;

void main() {
    for (uint unit = firstUnit(units), end = endUnit(units); unit < end; unit += STEP)
#ifdef FIRST
        bitmap[unit] = FETCH(valid, unit);
#else
        bitmap[unit] &= FETCH(valid, unit);
#endif
}
