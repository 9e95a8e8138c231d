/**
 * Points at which a test can stage a race or a crash: the composition root may pass a function that is called there. In
 * production there is none. The function is synchronous: it can end or block the process, but it cannot let other work
 * run first.
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
/**
 * No state of a run depends on the other transactions: with `lease`, nodes fence each other, `files` publishes an upload or
 * deletes files, and `erasure` erases a person.
 */
export type TransactionName = (typeof TRANSACTIONS)[number] | 'files' | 'erasure' | 'lease';

export type WaitPoint =
  | `${TransactionName}.${'before' | 'after'}-commit`
  | `${'header' | 'first-byte' | 'messages' | 'end-frame' | 'cancel-intent' | 'settle'}.${'before' | 'after'}`
  | ErasurePoint;

export const WAIT_POINTS: readonly WaitPoint[] = [
  ...TRANSACTIONS.flatMap((name): WaitPoint[] => [`${name}.before-commit`, `${name}.after-commit`]),
  ...(['header', 'first-byte', 'messages', 'end-frame', 'cancel-intent', 'settle'] as const).flatMap(
    (name): WaitPoint[] => [`${name}.before`, `${name}.after`],
  ),
];

/** The steps of an uploaded file on its way to the disk. No run depends on them. */
export type UploadPoint =
  `${'upload-bytes' | 'upload-sync' | 'upload-rename' | 'upload-folder-sync' | 'upload-answer'}.${'before' | 'after'}`;

export const UPLOAD_POINTS: readonly UploadPoint[] = (
  ['upload-bytes', 'upload-sync', 'upload-rename', 'upload-folder-sync', 'upload-answer'] as const
).flatMap((name): UploadPoint[] => [`${name}.before`, `${name}.after`]);

/** The commit that publishes an upload, between the syncs and the answer. */
export const FILE_POINTS: readonly WaitPoint[] = ['files.before-commit', 'files.after-commit'];

/** The steps of an erasure. No run depends on them. */
export type ErasurePoint =
  | `erasure.${'before' | 'after'}-commit`
  | `erasure-${'bytes' | 'scrub'}.${'before' | 'after'}`;

export const ERASURE_POINTS: readonly ErasurePoint[] = [
  'erasure.before-commit',
  'erasure.after-commit',
  'erasure-bytes.before',
  'erasure-bytes.after',
  'erasure-scrub.before',
  'erasure-scrub.after',
];

export type WaitAt = (point: WaitPoint | UploadPoint) => void;
