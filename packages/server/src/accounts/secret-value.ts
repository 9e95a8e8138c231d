import { hash, randomBytes } from 'node:crypto';

/** A random value that one person gets. The store has only its hash. */
export const newSecretValue = (): string => randomBytes(32).toString('base64url');

export const secretValueHash = (secret: string): string => hash('sha256', secret);
