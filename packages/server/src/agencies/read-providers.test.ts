import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { faultLine } from './fault.ts';
import { readProviders } from './read-providers.ts';

const VARIABLES: Readonly<Record<string, string>> = {
  LOCAL_KEY: 'sk-local',
  HOST: 'models.example.com',
  BAD: 'top secret',
};

async function read(text: string | Uint8Array | null) {
  const folder = mkdtempSync(join(tmpdir(), 'runwire-providers-'));
  try {
    if (text !== null) writeFileSync(join(folder, 'providers.yaml'), text);
    return await readProviders(folder, (name) => VARIABLES[name] ?? null);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('a provider gets the values of its variables', async () => {
  const { entries, faults } = await read(`local:
  api: chat
  baseUrl: https://\${HOST}/v1/
  apiKey: \${LOCAL_KEY}
  models:
    small-1: { window: 8000, maxOutputTokens: 500, images: false, pdf: true }
openai: { models: { gpt-x: { window: 9000 } } }
`);
  assert.deepEqual(faults, []);
  const small = { window: 8000, maxOutputTokens: 500, images: false, pdf: true };
  assert.deepEqual(Object.fromEntries(entries), {
    local: {
      api: 'chat',
      baseUrl: 'https://models.example.com/v1',
      apiKey: 'sk-local',
      models: new Map([['small-1', small]]),
    },
    openai: { models: new Map([['gpt-x', { window: 9000 }]]) },
  });
});

test('a file that does not exist or is empty has no providers', async () => {
  for (const text of [null, '', '# later\n']) {
    const { entries, unreadable } = await read(text);
    assert.deepEqual([entries.size, unreadable], [0, null]);
  }
});

const good = '\ngood: { api: chat, baseUrl: http://127.0.0.1:1/v1 }\n';

/** A text, and the faults of the provider `x` in it. */
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of providers.yaml.
const FAULTS: readonly (readonly [string, ...string[]])[] = [
  [
    'x: { baseUrl: https://a.example.com }',
    '1:1: `x` is not a built-in provider; add `package`, or `api: chat`, `api: responses` or `api: messages`.',
  ],
  ['x: { api: chat }', '1:1: `x` is not a built-in provider; add `baseUrl`.'],
  [
    'x: { api: rest, baseUrl: https://a.example.com }',
    '1:11: `api` has a wrong value; write `responses`, `chat` or `messages`.',
  ],
  [
    'x: { package: own, options: { apiKey: "${BAD}" } }',
    '1:39: `apiKey` must contain only visible ASCII characters; check for spaces around it.',
  ],
  [
    'x: { package: "a secret" }',
    '1:15: `package` has a wrong value; write the name of a package, such as `@ai-sdk/google`.',
  ],
  [
    'x:\n  api: chat\n  base_url: https://a.example.com',
    '3:3: `base_url` is not a field of a provider; did you mean `baseUrl`?',
  ],
  [
    'x: { api: chat, baseUrl: a.example.com }',
    '1:26: `baseUrl` is not a plain http or https address; write one, such as https://models.example.com/v1, without a user name, a query or a fragment.',
  ],
  [
    'x: { api: chat, baseUrl: "https://u:secret@a.example.com" }',
    '1:26: `baseUrl` is not a plain http or https address; write one, such as https://models.example.com/v1, without a user name, a query or a fragment.',
  ],
  [
    'x:\n  api: chat\n  baseUrl: https://a.example.com\n  apiKey: ${MISSING}',
    '4:11: The environment variable `MISSING` is not set; set it, and start the server again.',
  ],
  [
    'x:\n  api: chat\n  baseUrl: https://a.example.com\n  apiKey: ${BAD}',
    '4:11: `apiKey` must contain only visible ASCII characters; check for spaces around it.',
  ],
  [
    'x:\n  api: chat\n  baseUrl: https://a.example.com\n  models: { m: { window: 10 } }',
    '4:26: `window` is 10; write 1000 or more.',
  ],
  [
    'x:\n  api: chat\n  baseUrl: https://a.example.com\n  models: { m: { images: no } }',
    '4:26: `images` must be `true` or `false`, not text.',
  ],
  [
    'x:\n  api: chat\n  baseUrl: https://a.example.com\n  models: { m: { context: 10 } }',
    '4:18: `context` is not a field of a model; its fields are window, maxOutputTokens, images, pdf, output.',
  ],
  ['x: chat', '1:4: `x` must be an object with fields, not text.'],
  [
    'offline: { api: chat, baseUrl: https://a.example.com }',
    '1:1: `offline` is the built-in model; choose another name.',
  ],
  [
    'Local: { api: chat, baseUrl: https://a.example.com }',
    '1:1: `Local` cannot be a name; use 1 to 40 lower-case letters, digits and `-`, and begin with a letter or a digit.',
  ],
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: variables of providers.yaml.

for (const [text, ...expected] of FAULTS) {
  test(`reports ${text.replaceAll(/\s+/g, ' ')}`, async () => {
    const { faults, broken, entries, unreadable } = await read(text + good);
    assert.deepEqual(
      faults.map(faultLine),
      expected.map((line) => `providers.yaml:${line}`),
    );
    assert.deepEqual([unreadable, broken.size, [...entries.keys()]], [null, 1, ['good']]);
    assert.ok(!JSON.stringify(faults).match(/secret/));
  });
}

test('a text that is no map of providers makes the file unreadable', async () => {
  const texts: readonly (readonly [string | Uint8Array, string])[] = [
    ['- openai', '1:1: The file must be an object with fields, not a list.'],
    ['a: {}\na: {}', '2:1: `a` is written twice; keep one of them.'],
    [
      'a: [',
      '1:5: This is not valid YAML; check the quotes and the indentation of this line and of the lines around it.',
    ],
    [Buffer.from([0xff, 0xfe]), '1:1: `providers.yaml` is not UTF-8 text; save it as UTF-8.'],
  ];
  for (const [text, expected] of texts) {
    const { unreadable, entries } = await read(text);
    assert.ok(unreadable !== null);
    assert.deepEqual([faultLine(unreadable), entries.size], [`providers.yaml:${expected}`, 0]);
  }
});

test('a fault of the syntax repeats no value', async () => {
  for (const value of [
    '!secret',
    '*secret',
    '|secret',
    '>secret',
    '@secret',
    '`secret',
    '%secret',
    '"secret',
    '{secret',
  ]) {
    for (const text of [`x: { api: chat, apiKey: ${value} }`, `x:\n  apiKey: ${value}\n`]) {
      const { unreadable, faults } = await read(text);
      assert.ok(unreadable !== null || faults.length > 0, text);
      assert.ok(!JSON.stringify([unreadable, faults]).includes('secret'), JSON.stringify(faults));
    }
  }
});
