/**
 * Written by this version into `nodes.generation`: 1 since runs are tracked in `active_runs`, 2 since chats can be forked. Nodes
 * of versions before that have 0.
 */
export const GENERATION = 2;

/** Nodes of earlier generations delete what forks share. */
export const GENERATION_WITH_FORKS = 2;
