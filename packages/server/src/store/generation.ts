/** Written by this version into `nodes.generation`. Nodes of the version before have 0. */
export const GENERATION = 1;
