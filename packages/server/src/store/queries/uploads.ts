import { insertInto, statement } from '../statement.ts';

/** Reads the newest secret, which is the one in use. */
export const newestUploadSecret = statement('newest upload secret', (db, _: Record<string, never>) =>
  db.selectFrom('upload_secrets').selectAll().orderBy('number', 'desc').limit(1),
);

export const uploadSecret = statement('upload secret', (db, p: { number: number }) =>
  db.selectFrom('upload_secrets').selectAll().where('number', '=', p.number),
);

/** If several servers make a secret concurrently, the first one is stored. */
export const makeUploadSecretOnce = insertInto('upload_secrets', ['number', 'made_at', { retired_at: null }], {
  unlessExists: ['number'],
});

export const retireUploadSecret = statement('retire upload secret', (db, p: { number: number; now: number }) =>
  db.updateTable('upload_secrets').set({ retired_at: p.now }).where('number', '=', p.number),
);
