import type { Agency } from '@runwire/client';

export const SOURCES: Readonly<Record<NonNullable<Agency['source']>, string>> = {
  bundled: 'bundled with the server',
  yaml: 'YAML',
  markdown: 'Markdown',
  typescript: 'TypeScript',
};

export const KINDS = { handoff: 'Hand-off', delegate: 'Delegation' } as const;

export const getTitle = ({ name, agency }: Agency): string => name ?? agency;

export type Agent = Agency['agents'][number];
