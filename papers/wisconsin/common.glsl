// What the kernels have in common: the number of a thread among n.
uniform uint n;

uint thread() {
    return (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * LOCAL + gl_LocalInvocationIndex;
}
