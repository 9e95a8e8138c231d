export const proof = null as never;
