/**
 * Places where a race or a crash can be staged: a function handed in by the composition root is called there,
 * and in production there is none. It is synchronous: it may end the process or block it, never let it go on
 * with something else first.
 */
export const TRANSACTIONS = [
  'admit',
  'attachment',
  'flush',
  'step',
  'end',
  'cancel',
  'takeover',
  'account',
  'sweep',
] as const;
/** `lease`: by which nodes look after each other's. Nothing of a run's own depends on it: no crash is staged there. */
export type TransactionName = (typeof TRANSACTIONS)[number] | 'lease';

export type WaitPoint =
  | `${TransactionName}.${'before' | 'after'}-commit`
  | `${'header' | 'first-byte' | 'messages' | 'end-frame' | 'cancel-intent' | 'settle'}.${'before' | 'after'}`;

export const WAIT_POINTS: readonly WaitPoint[] = [
  ...TRANSACTIONS.flatMap((name): WaitPoint[] => [`${name}.before-commit`, `${name}.after-commit`]),
  ...(['header', 'first-byte', 'messages', 'end-frame', 'cancel-intent', 'settle'] as const).flatMap(
    (name): WaitPoint[] => [`${name}.before`, `${name}.after`],
  ),
];

/** On the way of an uploaded file to the disk: nothing of a run depends on them. */
export type UploadPoint =
  `${'upload-bytes' | 'upload-sync' | 'upload-rename' | 'upload-folder-sync' | 'upload-answer'}.${'before' | 'after'}`;

export const UPLOAD_POINTS: readonly UploadPoint[] = (
  ['upload-bytes', 'upload-sync', 'upload-rename', 'upload-folder-sync', 'upload-answer'] as const
).flatMap((name): UploadPoint[] => [`${name}.before`, `${name}.after`]);

export type WaitAt = (point: WaitPoint | UploadPoint) => void;
