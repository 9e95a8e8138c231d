/**
 * Written by this version into `nodes.generation`: 1 since runs are tracked in `active_runs`, 2 since chats can be forked, 3 since
 * events are stored for webhooks, 4 since people and keys have roles. Nodes of versions before that have 0.
 */
export const GENERATION = 4;

/** Nodes of earlier generations delete what forks share. */
export const GENERATION_WITH_FORKS = 2;

/** Nodes of earlier generations store no events, so an endpoint would miss what ends there. */
export const GENERATION_WITH_WEBHOOKS = 3;

/** Nodes of earlier generations let every person and every key do everything of the owner. */
export const GENERATION_WITH_ROLES = 4;
