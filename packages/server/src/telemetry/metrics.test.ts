import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics, type Probes } from './metrics.ts';

const none = () => 0;
const probes: Probes = {
  version: '1',
  activeRuns: none,
  openStreams: none,
  fullStreams: none,
  writerQueue: none,
  unstoredBytes: none,
  attachmentsBytes: none,
  beatAgeMs: none,
  mcpServers: () => [],
  syncMs: 0,
};

test('models after the fiftieth share one label', () => {
  const metrics = new Metrics();
  for (let n = 1; n <= 60; n += 1) {
    metrics.firstOutput(`openai/model-${n}`, 10);
    metrics.usedTokens(`openai/model-${n}`, { inputTokens: 3, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0 });
  }
  const lines = metrics.text(probes).split('\n');
  const inputs = lines.filter((line) => line.startsWith('runwire_tokens_total{') && line.includes('kind="input"'));
  assert.equal(inputs.length, 51);
  assert.equal(inputs.at(-1), 'runwire_tokens_total{model="other",kind="input"} 30');
  assert.ok(lines.includes('runwire_model_first_token_seconds_count{model="other"} 10'));
});
