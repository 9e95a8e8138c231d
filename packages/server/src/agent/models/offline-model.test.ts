import { modelConformance } from '@runwire/test-kit/model-conformance.ts';
import { offlineModel } from './offline-model.ts';

modelConformance('offline', async () => ({
  model: offlineModel,
  ask: 'Hello',
  failing: '/fail',
  endless: '/slow 600',
  long: 'one two three four five six seven eight nine ten',
  openConnections: () => 0,
  [Symbol.asyncDispose]: async () => {},
}));
