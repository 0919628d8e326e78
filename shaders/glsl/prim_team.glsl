#ifdef SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#pragma optionNV(unroll all)
#endif
// A team has a strip of a vector, or a tile. TEAM: the threads that share it; 1: each
// thread is a team by itself, LOCAL of them a work group. Comes first in a program.
#if TEAM > 1
layout(local_size_x = TEAM) in;
uint rank = gl_LocalInvocationIndex;
uint team = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
#else
layout(local_size_x = LOCAL) in;
const uint rank = 0u;
uint team = gl_GlobalInvocationID.x;
#endif
uniform uint n;      // elements
uniform uint strips; // teams that have a strip
uniform uint per;    // of a strip: tiles where they are scanned, else elements

#ifdef DIGIT // of keys: an expression of x and the digit's number
uniform uint number;
uniform uint parts; // of a split
CONSTANTS
uint digit(uint x, uint number) { return DIGIT; }
#endif
