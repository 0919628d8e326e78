// Not null: bitmap &= the validity of a column; FIRST: the records of the window.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) buffer Bitmap { uvec4 bitmap[]; };
READONLY(1, uvec4, Validity, valid);
uniform uint units;

void main() {
    for (uint unit = firstUnit(units), end = endUnit(units); unit < end; unit += STEP)
#ifdef FIRST
        bitmap[unit] = FETCH(valid, unit);
#else
        bitmap[unit] &= FETCH(valid, unit);
#endif
}
