import type { Person } from '@runwire/client';

export type Role = Person['role'];

const MEANINGS: Readonly<Record<Role, string>> = {
  viewer: 'reads',
  operator: 'also answers questions, changes members',
  developer: 'also changes everything below integrations',
  manager: 'everything, with people and keys',
};

/** The roles for a choice, the least first. */
export const ROLE_CHOICES = (Object.keys(MEANINGS) as Role[]).map((value) => ({
  value,
  label: `${value}: ${MEANINGS[value]}`,
}));
