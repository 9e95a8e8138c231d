import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadedAgency, LoadedAgent } from '../agencies/loaded-agency.ts';
import type { Model } from '../agent/ports.ts';
import { agentWindow, reachedWindow } from './agent-windows.ts';
import { PreparedAgencies } from './prepared-agency.ts';

const WINDOWS: Readonly<Record<string, number>> = { 'own/large': 400_000, 'own/middle': 64_000, 'own/small': 32_000 };

type Fields = Pick<LoadedAgent, 'flows'> & Partial<Pick<LoadedAgent, 'fallback'>>;

const agent = (name: string, model: string, { flows, fallback = [] }: Fields) =>
  ({ name, model, fallback, flows, ownModels: new Map() }) as unknown as LoadedAgent;

const to = (name: string, kind: 'delegate' | 'handoff') => ({ to: name, kind, memory: 'chat' as const });

const agents = [
  agent('Lead', 'own/large', { flows: [to('Desk', 'handoff'), to('Notes', 'delegate')] }),
  agent('Desk', 'own/large', { flows: [to('Lead', 'handoff'), to('Closer', 'handoff')] }),
  agent('Closer', 'own/large', { flows: [], fallback: ['own/middle'] }),
  agent('Notes', 'own/small', { flows: [] }),
];

const setting = {
  agencies: { getModel: (_: unknown, { model }: { readonly model: string | null }) => model ?? '' },
  agency: { agents: new Map(agents.map((one) => [one.name, one])) } as unknown as LoadedAgency,
  ofIntegration: null,
  models: (id: string) => ({ id, windowTokens: WINDOWS[id] }) as Model,
  otherwise: 1000,
};

test('the window of an agent is the smallest of its model and its fallbacks', () => {
  const windows = agents.map((one) => agentWindow(setting, one));
  assert.deepEqual(windows, [400_000, 400_000, 64_000, 32_000]);
});

test('a conversation fits all agents that hand-offs reach, also through others, and no others', () => {
  const windows = agents.map(({ name }) => reachedWindow(setting, name));
  assert.deepEqual(windows, [64_000, 64_000, 64_000, 32_000]);
});

test('an agency is prepared once per model choice, and the least recently used choice again', () => {
  const { agencies, agency, models } = setting;
  const deps = { agencies, models: () => models, prompt: { windowTokens: 1000 }, commands: null };
  const prepared = new PreparedAgencies(deps as unknown as ConstructorParameters<typeof PreparedAgencies>[0]);
  const own = prepared.find(agency, null);
  const first = prepared.find(agency, 'm/1');
  for (let choice = 2; choice <= 100; choice += 1) {
    prepared.find(agency, `m/${choice}`);
    assert.equal(prepared.find(agency, null), own);
  }
  assert.notEqual(prepared.find(agency, 'm/1'), first);
  assert.equal(prepared.find(agency, null), own);
});
