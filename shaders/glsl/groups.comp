// Groups: aggregates the selected records by the codes of columns. A group is a slot, a state of
// WORDS words.
//
// With KEPT each thread has a slot for every group in shared memory, of KEPT words, and nobody else's
// records meet it there; at the end of a piece a work group adds them up. With ONE there is one group, in
// registers. Else a thread keeps one group in registers, that of most of the records which it
// met last, so that records of one hot group do not meet in memory; the others go to the group's
// slot in memory one by one.
//
// In: State: words w0 ..., all 0 for no record; ~row is raised in w0, w1 counts records.
//     join(a, b): a takes b in. SEND(slot, s) sends a state to memory by RAISE, ADD and its
//     kin. OWN_STATE(at) is the state at a place of own, KEEP(at, s) puts it there, but for w0.
//     fours(unit, i, taken): calls take for the records of bit i of a unit that are
//     taken. SELECTION: the records of a unit that count. SLOTS: work groups share a copy of so
//     many slots first; OWN_WORDS: of all slots of a thread; else all go to the result.
//     Arguments: the place of the slots, how many they are.
// Out: result[place + slot * WORDS ...]
layout(local_size_x = LOCAL) in;
#ifndef REGIONS
layout(std430, binding = 0) buffer Groups { uint result[]; };
#endif

#define RAISE(slot, w, n) { uint to = PLACE_OF(slot, w); if (MEMORY[to] < (n)) atomicMax(MEMORY[to], n); }
#define ADD(slot, w, n) { if ((n) != 0u) atomicAdd(MEMORY[PLACE_OF(slot, w)], n); }
#define ADD_TWO(slot, w, low, high) { \
    uint before = 0u, more = high; \
    if ((low) != 0u) { \
        before = atomicAdd(MEMORY[PLACE_OF(slot, w)], low); \
        more += uint(before + (low) < before); \
    } \
    if (more != 0u) \
        atomicAdd(MEMORY[PLACE_OF(slot, (w) + 1u)], more); \
}
#define ADD_THREE(slot, w, low, high, top) { \
    uint first = 0u, carried = 0u; \
    if ((low) != 0u) { \
        first = atomicAdd(MEMORY[PLACE_OF(slot, w)], low); \
        carried = uint(first + (low) < first); \
    } \
    uint second = high, carry; \
    second = uaddCarry(second, carried, carry); \
    ADD_TWO(slot, (w) + 1u, second, (top) + carry) \
}

#define FINAL uint(arg(OWN))
#ifdef SLOTS
shared uint slots[SLOTS * WORDS]; // word by word, so that neighbours lie in different banks
#define MEMORY slots
#define PLACE_OF(slot, w) ((w) * SLOTS + (slot))
#else
#define MEMORY result
#define PLACE_OF(slot, w) (FINAL + (slot) * WORDS + (w))
#endif

#ifdef KEPT
shared uint own[OWN_WORDS * LOCAL]; // word by word, so that neighbours lie in different banks
#define OWN_PLACE(slot, thread) ((slot) * KEPT * uint(LOCAL) + (thread))

// take takes a record in. On hardware a thread meets records in their order: the first one has the first row.
void take(uint slot, State s) {
    uint at = OWN_PLACE(slot, gl_LocalInvocationIndex);
    State a = OWN_STATE(at);
    join(a, s);
#ifdef SOFTWARE
    own[at] = a.w0;
#else
    if (a.w1 == 1u)
        own[at] = s.w0;
#endif
    KEEP(at, a)
}

void begin() {
    for (uint i = 0u; i < uint(OWN_WORDS); i++)
        own[i * uint(LOCAL) + gl_LocalInvocationIndex] = 0u;
}

#ifdef SOFTWARE
void finish() {
    for (uint slot = 0u; slot < uint(arg(OWN + 1)); slot++) {
        uint at = OWN_PLACE(slot, gl_LocalInvocationIndex);
        State s = OWN_STATE(at);
        if (s.w1 != 0u)
            SEND(slot, s)
    }
}
#else
// gathered is the sum of a slot's states of some threads.
State gathered(uint slot, uint thread, uint end, uint step) {
    State s = NONE;
    for (; thread < end; thread += step) {
        uint at = OWN_PLACE(slot, thread);
        State other = OWN_STATE(at);
        join(s, other);
    }
    return s;
}

// finish adds the threads' slots up: first as many threads as share a slot, each of its part, then one.
void finish() {
    barrier();
    uint me = gl_LocalInvocationIndex, n = uint(arg(OWN + 1)), share = uint(LOCAL) / n, slot = me / share;
    if (slot < n) {
        State s = gathered(slot, me % share, uint(LOCAL), share);
        uint at = OWN_PLACE(slot, me % share);
        own[at] = s.w0;
        KEEP(at, s)
    }
    barrier();
    if (me < n) {
        State s = gathered(me, 0u, share, 1u);
        if (s.w1 != 0u)
            SEND(me, s)
    }
    barrier();
}
#endif
#else
uint held = 0u;     // the slot in registers
State state = NONE; // of it
uint votes = 0u;    // records of it less others since

#ifdef ONE
void take(uint slot, State s) { join(state, s); }
#else
// take takes a record in. The slot that most records have is found by their votes (Boyer and
// Moore): one of another group takes a vote away, and where none is left its group takes the place.
void take(uint slot, State s) {
    if (slot == held) {
        votes++;
        join(state, s);
        return;
    }
    uint at = slot;
    if (votes == 0u) {
        at = held;
        held = slot;
        State before = state;
        state = s;
        s = before;
        votes = 1u;
    } else {
        votes--;
    }
    if (s.w1 != 0u)
        SEND(at, s)
}
#endif

void begin() {
#ifdef SLOTS
    for (uint i = gl_LocalInvocationIndex; i < SLOTS * WORDS; i += uint(LOCAL))
        slots[i] = 0u;
    barrier();
#endif
}

void finish() {
    if (state.w1 != 0u)
        SEND(held, state)
    state = NONE;
    votes = 0u;
#ifdef SLOTS
    barrier();
#undef MEMORY
#undef PLACE_OF
#define MEMORY result
#define PLACE_OF(slot, w) (FINAL + (slot) * WORDS + (w))
    for (uint slot = gl_LocalInvocationIndex; slot < uint(arg(OWN + 1)); slot += uint(LOCAL)) {
        if (slots[SLOTS + slot] == 0u)
            continue;
        State s = STATE_OF(slot);
        SEND(slot, s)
    }
    barrier();
#endif
}
#endif
