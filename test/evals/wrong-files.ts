/* Eval files with mistakes, and the line, the column and the sentence that each must be reported with. */

interface WrongFile {
  readonly text: string;
  /** After the path of the file. */
  readonly faults: readonly string[];
}

const one = (lines: string) => `name: Wrong\ncases:\n  - name: a\n    message: Hi\n    expect:\n${lines}\n`;
const start = (lines: string) => `name: Wrong\ncases:\n${lines}\n`;

export const WRONG_FILES: Readonly<Record<string, WrongFile>> = {
  'no name': {
    text: 'cases:\n  - { name: a, message: Hi, expect: {} }\n',
    faults: ['1:1: The file has no `name`; add a line such as `name: Refunds`.'],
  },
  'no cases': { text: 'name: Wrong\n', faults: ['1:1: The file has no `cases`; add at least one.'] },
  empty: { text: '# nothing\n', faults: ['1:1: The file is empty; write at least `name` and `cases`.'] },
  'not YAML': {
    text: start('  - name: a: b'),
    faults: [
      '3:11: This is not valid YAML (nested mappings are not allowed in compact mappings); check the indentation of this line and of the lines around it, and put text with `: ` or `#` in quotes.',
    ],
  },
  'a misspelt field': {
    text: one('      notCall: [refund]'),
    faults: ['6:7: `notCall` is not a field of `expect`; did you mean `notCalls`?'],
  },
  'a field of another framework': {
    text: start('  - name: a\n    prompt: Hi\n    expect: {}'),
    faults: ['4:5: `prompt` is not a field of a case; write `message`.'],
  },
  'no message': {
    text: start('  - name: a\n    expect: {}'),
    faults: ['3:5: The case `a` has no `message`; write one, or `run` for a recorded run.'],
  },
  'a message beside a run': {
    text: start('  - name: a\n    run: run_recorded1\n    message: Hi\n    expect: {}'),
    faults: ['5:5: A case with `run` has its message from there; remove `message`.'],
  },
  'an unknown run': {
    text: start('  - name: a\n    run: run_gone\n    expect: {}'),
    faults: ['4:10: `run_gone` is not in recorded.jsonl; write it there with `runwire evals record run_gone`.'],
  },
  'calls that are the same as nothing': {
    text: one('      calls: same'),
    faults: ['6:14: `calls` is `same`, but the case has no `run`; list the calls.'],
  },
  'a pattern that is none': {
    text: one("      text: { matches: '(' }"),
    faults: ['6:24: `matches` is not a regular expression (/(/u: Unterminated group).'],
  },
  'a schema that is none': {
    text: one('      output: { schema: { type: wrong } }'),
    faults: [
      '6:25: `schema` is not a JSON Schema: schema is invalid: data/type must be equal to one of the allowed values, data/type must be array, data/type must match a schema in anyOf.',
    ],
  },
  'too many must pass': {
    text: start('  - name: a\n    message: Hi\n    repeat: 2\n    atLeast: 3\n    expect: {}'),
    faults: ['6:14: `atLeast` is 3, but `a` is run 2 times; write at most 2.'],
  },
  'two cases with one name': {
    text: start('  - { name: a, message: Hi, expect: {} }\n  - { name: a, message: Ho, expect: {} }'),
    faults: ['4:13: Two cases are called `a`; give each a name of its own.'],
  },
  'unknown agents and tools': {
    text: one('      agents: [Tirage]\n      calls: [find_invoices]\n      notCalls: [nothing]'),
    faults: [
      '6:16: The agency has no agent `Tirage`; did you mean `Triage`?',
      '7:15: The agency has no tool `find_invoices`; did you mean `find_invoice`?',
      '8:18: The agency has no tool `nothing`; its tools are find_invoice, close_account, list_files, read_file, search_files, show_file, refund, transfer_to_Billing, send_message.',
    ],
  },
  'a number as text, and a score above 1': {
    text: one('      judge: { criteria: 5, atLeast: 2 }'),
    faults: [
      '6:26: `criteria` must be text, but this is a number; put it in quotes.',
      '6:38: `atLeast` is 2; write a number from 0 to 1.',
    ],
  },
};
