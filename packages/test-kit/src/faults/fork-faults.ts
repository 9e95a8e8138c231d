import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import type { Tx } from '@runwire/server/src/store/store.ts';
import { around } from './tampered-store.ts';

/** A run that settles questions closes those of all chats in which the same run asked. */
function sharing(tx: Tx): Tx {
  return {
    all: tx.all.bind(tx),
    query: tx.query.bind(tx),
    run: async (statement, given) => {
      const changed = await tx.run(statement, given);
      const { knownQuestionsJson: known } = given as { readonly knownQuestionsJson?: string | null };
      if (statement.name === 'grow chat' && typeof known === 'string') {
        const { runId } = JSON.parse(known) as { readonly runId: never };
        await tx.query((db) =>
          db.updateTable('chats').set({ questions_json: null, asking_run_id: null }).where('asking_run_id', '=', runId),
        );
      }
      return changed;
    },
  };
}

const shareQuestions = (): Overrides => ({
  wrapStore: around((transact) => (name, job, locks) => transact(name, (tx) => job(sharing(tx)), locks)),
});

export const FORK_FAULTS = { 'share-questions': shareQuestions };
