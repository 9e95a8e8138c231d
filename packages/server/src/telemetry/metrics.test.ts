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
  webhookDueMs: none,
  droppedSpans: none,
  syncMs: 0,
};

test('models after the fiftieth share one label', () => {
  const metrics = new Metrics();
  for (let n = 1; n <= 60; n += 1) {
    metrics.firstOutput(`openai/model-${n}`, 10);
    metrics.calledModel(`openai/model-${n}`, 20, null);
    metrics.usedTokens(`openai/model-${n}`, { inputTokens: 3, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0 });
  }
  const lines = metrics.text(probes).split('\n');
  const inputs = lines.filter((line) => line.startsWith('runwire_tokens_total{') && line.includes('kind="input"'));
  assert.equal(inputs.length, 51);
  assert.equal(inputs.at(-1), 'runwire_tokens_total{model="other",kind="input"} 30');
  assert.ok(lines.includes('runwire_model_first_token_seconds_count{model="other"} 10'));
  const labels = 'gen_ai_operation_name="chat",gen_ai_provider_name="other",gen_ai_request_model="other"';
  assert.ok(lines.includes(`gen_ai_client_operation_duration_seconds_count{${labels}} 10`));
  assert.ok(lines.includes(`gen_ai_client_operation_time_to_first_chunk_seconds_count{${labels}} 10`));
  assert.ok(lines.includes(`gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"} 30`));
});
