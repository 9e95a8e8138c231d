import type { ProseKind } from './prose.ts';

export interface ListedWord {
  readonly word: string;
  readonly pattern: RegExp;
  readonly instead: string;
}

/**
 * The words that docs/style.md replaces. Each pattern leaves out the plain uses that it can recognise by the
 * neighbouring words ("behind a proxy", "stands for"); it cannot see the meaning of a sentence.
 */
const words: readonly ListedWord[] = [
  { word: 'whoever', pattern: /\bwhoever\b/gi, instead: 'name the actor' },
  { word: 'nobody', pattern: /\bnobody\b/gi, instead: 'no client, no reader, no other node' },
  { word: 'somebody', pattern: /\bsome(?:body|one)\b/gi, instead: 'the caller, another node' },
  { word: 'one that', pattern: /\bone that\b/gi, instead: 'repeat the noun' },
  { word: 'those that', pattern: /\bthose (?:that|who)\b/gi, instead: 'repeat the noun' },
  {
    word: 'behind (order)',
    pattern:
      /(?<!\b(?:is|are|was|far|falls?|falling|lags?|still) )\bbehind\b(?! (?:an?|the|your) (?:[\w-]+ )?(?:proxy|balancer|gateway|pooler|firewall|router|port|NAT|network))(?! PgBouncer)/gi,
    instead: 'after',
  },
  { word: 'meanwhile', pattern: /\bmeanwhile\b/gi, instead: 'name the concurrent actor' },
  { word: 'at once', pattern: /\bat once\b/gi, instead: 'immediately, concurrently' },
  { word: 'stands', pattern: /\b(?:stands?|stood)\b(?! (?:for|in for)\b)/gi, instead: 'is stored, exists, is written' },
  { word: 'lies', pattern: /\b(?:lies?|lay)\b/gi, instead: 'is stored, is' },
  {
    word: 'is there',
    pattern: /\b(?:is|are|was|were|be) there\b(?! (?:an?|any|no|more)\b)/gi,
    instead: 'exists, is stored, answers',
  },
  {
    word: 'is had',
    pattern: /\b(?:is|are|was|were|be) (?:not )?(?:to be )?had\b/gi,
    instead: 'could be fetched, exists',
  },
  { word: 'is told', pattern: /\b(?:is|are|was|were|be|been|being) told\b/gi, instead: 'is reported, receives' },
  { word: 'says', pattern: /\bsays\b/gi, instead: 'reports, returns, contains' },
  { word: 'goes on', pattern: /\b(?:go|goes|went|going|gone) on\b/gi, instead: 'continues' },
  { word: 'comes', pattern: /\bcomes\b(?! from\b)/gi, instead: 'arrives, follows' },
  { word: 'goes', pattern: /\bgoes\b(?! on\b)/gi, instead: 'is sent, is deleted, continues' },
  { word: 'mend', pattern: /\bmend(?:s|ed|ing)?\b/gi, instead: 'fix' },
  { word: 'beat', pattern: /\bbeat(?:s|ing|en)?\b/gi, instead: 'heartbeat' },
  { word: 'back-up', pattern: /\bback-ups?\b/gi, instead: 'backup' },
  { word: 'moving house', pattern: /\bmov(?:e|es|ed|ing) house\b/gi, instead: 'migrate' },
  { word: 'left over', pattern: /\bleft over\b/gi, instead: 'leftover' },
  { word: 'put aside', pattern: /\b(?:put|puts|set|laid) aside\b/gi, instead: 'stored as scratch' },
  { word: 'exacter', pattern: /\bexacter\b/gi, instead: 'more exact' },
  { word: 'running runs', pattern: /\brunning runs\b/gi, instead: 'active runs' },
  { word: 'beside others', pattern: /\bbeside others\b/gi, instead: 'name the others' },
  { word: 'erase it (a person)', pattern: /\berase it\b/gi, instead: 'erase the person, erase the member' },
  { word: 'not of Runwire', pattern: /\bnot (?:one )?of Runwire\b/gi, instead: 'is not from a Runwire server' },
  { word: 'the road', pattern: /\bthe road\b/gi, instead: 'the request path' },
];

/** As the first words of a comment: such a comment has no subject and no verb. */
const openings: readonly ListedWord[] = [
  { word: 'Null: …', pattern: /^(?:Null|Undefined):/g, instead: 'Returns null if …' },
  { word: 'Of …', pattern: /^Of\b/g, instead: 'a sentence with subject and verb' },
  { word: 'Whether …', pattern: /^Whether\b/g, instead: 'True if …' },
];

const places =
  'place|places|point|points|position|offset|folder|folders|file|line|page|row|column|table|disk|machine|host|address|directory|path|section|region';
const askers =
  'know|knows|knew|see|sees|look|looks|find|finds|found|tell|tells|show|shows|name|names|say|says|said|remember|remembers|decide|decides|choose|chooses|set|check|exactly|matters?|from|to|of|and|or|than|is|ask|asks|learns?|records?|reports?';

/**
 * `where` for a condition ("undefined where the run has ended"). A `where` is taken for a place if the word before it
 * names a place or asks for one ("the folder where", "knows where"), or if "to" or "from" follows. So this cannot see a
 * condition after such a word ("a file where none is allowed"), and it takes a place after any other noun for a
 * condition.
 */
const where: ListedWord = {
  word: 'where (condition)',
  pattern: new RegExp(`(?<!\\b(?:${places}|${askers}) )\\bwhere\\b(?! (?:to|from|clauses?)\\b)`, 'gi'),
  instead: 'if, when',
};

/** A participle alone names no job. */
const participle: ListedWord = {
  word: 'participle as a type name',
  pattern:
    /^(?!(?:Embed|Feed|Need|Seed|Shed|Speed)$)(?:[A-Z][a-z]*ed|Begun|Bound|Built|Chosen|Done|Drawn|Found|Given|Gone|Had|Heard|Held|Kept|Known|Laid|Left|Lost|Made|Meant|Met|Paid|Put|Said|Seen|Sent|Shown|Spent|Taken|Told|Thrown|Woken|Written)$/g,
  instead: 'a noun with a job',
};

export const listedWords: Readonly<Record<ProseKind, readonly ListedWord[]>> = {
  comments: [where, ...words, ...openings],
  docs: [where, ...words],
  strings: [where, ...words],
  testNames: [where, ...words],
  typeNames: [participle],
};
