import type { ReactNode } from 'react';
import { Skeleton } from './skeleton.tsx';

interface LoadingProps {
  /** What is being loaded, for example `members`. */
  readonly what: string;
}

/** What a page shows while it reads something. */
export function Loading({ what }: LoadingProps) {
  return (
    <div className="loading" role="status">
      <span className="visually-hidden">Loading {what}…</span>
      <Skeleton />
    </div>
  );
}

interface EmptyStateProps {
  readonly title: string;
  /** What to do next. */
  readonly children: ReactNode;
}

export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'active';

interface BadgeProps {
  readonly tone?: Tone;
  readonly children: ReactNode;
}

export function Badge({ tone = 'neutral', children }: BadgeProps) {
  return <span className={`badge badge-${tone}`}>{children}</span>;
}

const TONES: Readonly<Record<string, Tone>> = {
  admitted: 'active',
  running: 'active',
  cancelling: 'warn',
  waiting: 'warn',
  completed: 'good',
  failed: 'bad',
  cancelled: 'warn',
  connected: 'good',
  connecting: 'active',
  starting: 'warn',
  alive: 'good',
  draining: 'warn',
  dead: 'bad',
  pending: 'active',
  delivered: 'good',
  approved: 'good',
  declined: 'warn',
};

interface StatusProps {
  readonly status: string;
  /** How many have it, if it stands for several. */
  readonly count?: number;
}

/** A run's status, a step, a message, an MCP server, a process, a node or a delivery, always with the same colour. */
export function Status({ status, count }: StatusProps) {
  return <Badge tone={TONES[status] ?? 'neutral'}>{count === undefined ? status : `${count} ${status}`}</Badge>;
}
