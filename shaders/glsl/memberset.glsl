// Membership of a code in ascending, disjoint spans (an IN list, or LIKE over a
// dictionary): a bit for each code where there are few codes, else binary search.
READONLY(1, uvec4, Members, members);
uniform uint spans; // member i: the low and high words of span i's ends

bool inSet(uint code) { return (FETCH(members, code >> 7)[code >> 5 & 3u] >> (code & 31u) & 1u) != 0u; }

bool inSpans(uint code) {
    uint lo = 0u, hi = spans; // the first span whose end is not below the code
    while (lo < hi) {
        uint mid = (lo + hi) / 2u;
        if (FETCH(members, mid).z < code)
            lo = mid + 1u;
        else
            hi = mid;
    }
    return lo < spans && FETCH(members, lo).x <= code;
}

bool inSpans(uvec2 code) {
    uint lo = 0u, hi = spans;
    while (lo < hi) {
        uint mid = (lo + hi) / 2u;
        uvec4 s = FETCH(members, mid);
        if (s.w < code.y || (s.w == code.y && s.z < code.x))
            lo = mid + 1u;
        else
            hi = mid;
    }
    if (lo == spans)
        return false;
    uvec4 s = FETCH(members, lo);
    return s.y < code.y || (s.y == code.y && s.x <= code.x);
}
