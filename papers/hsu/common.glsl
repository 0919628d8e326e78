// What the kernels have in common: the number of a thread among n. Column c of a table is the words from c * capacity on.
uniform uint n;

uint thread() {
    return (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * LOCAL + gl_LocalInvocationIndex;
}
