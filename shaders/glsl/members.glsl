// Whether a code lies in one of `count` ascending, disjoint spans, by binary search.
// spans: a texel (lo.low, lo.high, hi.low, hi.high) for each.
bool member(usamplerBuffer spans, int count, uvec2 code) {
    int lo = 0, hi = count; // the first span whose end is not below the code
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (belowU64(texelFetch(spans, mid).zw, code))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < count && !belowU64(code, texelFetch(spans, lo).xy);
}
