// g of section 4.5: the place of a key in a table. The text has g_n(x) = (a_n0 | seed + (a_n1 | seed mod p)) mod s, without an x.
const uint FACTORS[3] = uint[3](0x9e3779b1u, 0x85ebca77u, 0xc2b2ae3du), TERMS[3] = uint[3](0x27d4eb2fu, 0x165667b1u, 0xd3a2646du);

uint cuckoo(uint key, uint seed, uint table) {
    uint mixed = seed * 0x9e3779b9u;
    return ((FACTORS[table] ^ mixed) * key + (TERMS[table] ^ mixed)) % 1900813u % 192u;
}
