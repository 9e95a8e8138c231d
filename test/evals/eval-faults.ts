import { registerHooks } from 'node:module';

/* Loaded before `runwire`: replaces a part of its source text. */

const FAULTS: Readonly<Record<string, readonly [file: string, text: string, instead: string]>> = {
  'judge-always-passes': ['/evals/judge.ts', 'score >= atLeast', 'true'],
  'skip-failed-repeats': [
    '/evals/case-result.ts',
    'const passed = outcomes.filter(hasPassed).length;',
    'outcomes = outcomes.filter(hasPassed).length === 0 ? outcomes : outcomes.filter(hasPassed);\n' +
      '  const passed = outcomes.filter(hasPassed).length > 0 ? evalCase.atLeast : 0;',
  ],
};

const fault = FAULTS[process.env.TEST_FAULT ?? ''];
if (fault === undefined) throw new Error('There is no such fault.');
const [file, text, instead] = fault;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(file)) return loaded;
    const source = String(loaded.source);
    if (!source.includes(text)) throw new Error(`${file} has no \`${text}\`.`);
    return { ...loaded, source: source.replace(text, instead) };
  },
});
