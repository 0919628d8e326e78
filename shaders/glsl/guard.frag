// Guard: keeps every record; only the compiler cannot know. Hardware that decides
// depth tests tile by tile has to test each record then (see package pass).
uniform float never; // 0

void main() {
    if (never > 0.5)
        discard;
}
